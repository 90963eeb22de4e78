/**
 * A program that appends to an event log: FILE STREAM COUNT. It appends COUNT events to each of four streams concurrently;
 * with COUNT 0 it appends until it is killed. It prints `ready`, waits for a line, then prints the id of each acknowledged event.
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
// `process.exit` would drop output that the reader has not read yet; without stdin the process ends on its own.
process.stdin.destroy()
