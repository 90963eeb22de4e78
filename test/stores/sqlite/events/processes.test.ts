import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { LOG_STREAM } from '../../../../src/domain/installation/read-only-state.ts'
import { comparePositions, LogClosed } from '../../../../src/stores/ports/event-store.ts'
import { all, event, ids, newStream, rejectedWith, takeEvents } from '../../../contract/event-store/given.ts'
import { waitFor } from '../../../until.ts'
import { suiteOnFile } from './given.ts'
import { FROM_SOURCE } from '../../../from-source.ts'

const test = suiteOnFile('the event log shared by processes')

test('assigns each event one position and shows all events to both processes', async ({ file, open }) => {
  const store = open()
  const [ours, theirs] = [newStream('ours'), newStream('theirs')]
  const taken = takeEvents(store.subscribe(await store.head(), { prefixes: ['ours-', 'theirs-'] }), 600)
  const other = await startAppending(file, theirs, 100)
  other.start()
  for (let number = 0; number < 200; number++) {
    await store.append(ours, number === 0 ? 'none' : BigInt(number - 1), [event(number)])
  }
  await waitFor('the other process to end', other.ended)
  const stored = await all(store.readAll('start'))
  assert.equal(
    stored.map(({ position }) => position.commit),
    stored.map((_, index) => BigInt(index + 1)),
  )
  assert.is(stored.length, 601)
  assert.equal(ids(await taken), ids(stored.slice(1)))
  assert.equal(new Set(other.acknowledged), new Set(ids(stored.filter(({ stream }) => stream.startsWith(theirs)))))
})

test("shows another connection's commit immediately", async ({ open }) => {
  const [store, other] = [open(), open()]
  for (let number = 0; number < 20; number++) {
    const position = await other.append(newStream(), 'none', [event()])
    assert.equal(await store.head(), position)
  }
})

test('rejects appends as soon as another connection fences it, and accepts them when that opens it', async ({
  open,
}) => {
  const [store, other] = [open(), open()]
  const appendToLogStream = (revision: bigint, type: string, data: Readonly<Record<string, string>>) =>
    other.append(LOG_STREAM, revision, [{ ...event(), type, data }])
  await store.append(newStream(), 'none', [event()])
  await appendToLogStream(0n, 'LogFenced', { copy: 'c-1', to: 'elsewhere' })
  await rejectedWith(LogClosed, store.append(newStream(), 'none', [event()]))
  await appendToLogStream(1n, 'LogOpened', { copy: 'c-1' })
  await store.append(newStream(), 'none', [event()])
})

test('wakes an idle subscription when another process writes', async ({ file, open }) => {
  const store = open()
  const stream = newStream()
  const taken = takeEvents(store.subscribe(await store.head()), 4)
  const other = await startAppending(file, stream, 1)
  other.start()
  // This process only reads the subscription, so nothing else can notice the append.
  assert.equal(
    new Set(ids(await taken)),
    new Set((await waitFor('the other process', other.ended), other.acknowledged)),
  )
})

test('has every acknowledged event exactly once after a writer was killed', async ({ file, open }) => {
  const other = await startAppending(file, newStream('killed'), 0)
  other.start()
  await waitFor('200 events', other.atLeast(200))
  other.kill()
  await waitFor('the other process to die', other.ended)
  const store = open()
  const stored = await all(store.readAll('start'))
  const counted = new Map<string, number>()
  for (const { id } of stored) counted.set(id, (counted.get(id) ?? 0) + 1)
  assert.ok(other.acknowledged.every((id) => counted.get(id) === 1))
  assert.equal(
    stored.map(({ position }) => position.commit),
    stored.map((_, index) => BigInt(index + 1)),
  )
  const after = await store.append(newStream(), 'none', [event()])
  assert.ok(comparePositions(stored.at(-1)?.position ?? 'start', after) < 0)
})

type AppendingProcess = {
  readonly acknowledged: string[]
  readonly ended: Promise<unknown>
  start(): void
  kill(): void
  atLeast(count: number): Promise<void>
}

/** @returns once the process has opened the log */
async function startAppending(file: string, stream: string, count: number): Promise<AppendingProcess> {
  const program = fileURLToPath(new URL('append-in-process.ts', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [...FROM_SOURCE, program, file, stream, String(count)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('the process has no pipes')
  const acknowledged: string[] = []
  const lines = createInterface(stdout)
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')])
  await waitFor('the process to open the log', once(lines, 'line'))
  lines.on('line', (line) => acknowledged.push(line))
  return {
    acknowledged,
    ended,
    start: () => void stdin.write('go\n'),
    kill: () => void child.kill('SIGKILL'),
    async atLeast(minimum) {
      while (acknowledged.length < minimum) await once(lines, 'line')
    },
  }
}

test.run()
