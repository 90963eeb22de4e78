import { measure, type Load } from './measure.ts'

/** The load generator's process: measures the loads that its parent sends, one at a time. */
process.on('message', (load: Load) => {
  measure(load).then(
    (result) => process.send?.({ result }),
    (error: Error) => process.send?.({ failed: error.message }),
  )
})
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })
