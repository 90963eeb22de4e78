import { measure, type Load } from './measure.ts'

/** The load generator's own process: takes loads from its parent, one at a time, and answers with what it measured. */
process.on('message', (load: Load) => {
  measure(load).then(
    (measured) => process.send?.({ measured }),
    (error: Error) => process.send?.({ failed: error.message }),
  )
})
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })
