/**
 * A process of its own that appends to an event log: FILE STREAM COUNT, one event at a time with a few at once; COUNT 0
 * goes on until it is killed. Prints `ready`, then each acknowledged event's id, and waits for a line before it starts.
 */
import { once } from 'node:events'
import { openSqliteEventStore } from '../../../../src/stores/sqlite/events.ts'
import { event } from '../../../contract/event-store/given.ts'

const [file = '', stream = '', count = '0'] = process.argv.slice(2)
const store = openSqliteEventStore(file)
process.stdout.write('ready\n')
await once(process.stdin, 'data')

async function appendTo(name: string): Promise<void> {
  for (let number = 0; Number(count) === 0 || number < Number(count); number++) {
    const one = event(number)
    await store.append(name, number === 0 ? 'none' : BigInt(number - 1), [one])
    process.stdout.write(`${one.id}\n`)
  }
}

await Promise.all([0, 1, 2, 3].map((lane) => appendTo(`${stream}-${lane}`)))
await store.close()
// The process ends by itself once its output is read: `process.exit` drops lines that a busy reader has not taken yet.
process.stdin.destroy()
