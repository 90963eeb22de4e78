import { carryPersons } from '../commands/accounts/carry-persons.ts'
import { Command, InvalidArgumentError } from 'commander'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { joinStores } from '../commands/installation/join-stores.ts'
import { isReached, untilMoment, type Moment } from '../maintenance/log-moment.ts'
import { beginCopy, closeReplay, type Moving } from '../commands/installation/move-log.ts'
import { keepMasterKey } from '../credentials/master-keys.ts'
import type { Files } from '../stores/ports/files.ts'
import type { EventStore, StoredEvent } from '../stores/ports/event-store.ts'
import { joinedOf, type Installation } from '../wiring/installation.ts'
import { readSettings } from '../wiring/settings.ts'
import { withoutCredentials } from '../wiring/store-addresses.ts'
import { administering } from './administer.ts'
import { copyWhole } from '../maintenance/backup/files.ts'
import { factsOf, shownPosition } from '../maintenance/backup/log-facts.ts'
import { BadUsage, Failed } from '../maintenance/operation.ts'
import { withInstallation, type Open } from './installed.ts'
import { copied } from '../maintenance/move/walk.ts'
import { appendsOf, AT_ONCE, writeInOrder } from '../maintenance/move/write.ts'
import { note, printResult, type OutputOptions } from './output.ts'
import { count } from './progress-bar.ts'
import { readUntil } from './times.ts'

type ReplayOptions = OutputOptions & { readonly until: Until; readonly into: string }
type Until = { readonly text: string; readonly moment: Moment }

/** `replay`: the whole state at a past moment, as an installation that is only read. */
export function replayCommand(open: Open): Command {
  return new Command('replay')
    .description('make an installation that shows everything as it was at a moment, beside the running service')
    .requiredOption('--until <moment>', 'a time, or a position as `npx adamant events` prints it', readMoment)
    .requiredOption('--into <folder>', 'a new or empty one')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', HELP)
    .action((options: ReplayOptions) => replay(open, options))
}

const HELP = `
The folder gets the log up to the moment, the files of its certifications and, unless MASTER_KEY is set, the master key:
keep it as safe as DATA_DIR.
One-time secrets are not kept for the past. Serve it on a port of its own; it answers reads, to tokens of the installation
too, and never takes a write. A time is ISO 8601, a day or a minute means its end; without offset it is UTC.

Example:
  npx adamant replay --until 2026-11-22T10:00:00Z --into /tmp/then
  DATA_DIR=/tmp/then EVENT_STORE=sqlite READ_MODEL=sqlite PORT=8090 npx adamant serve --read-only`

const POSITION = /^(\d{1,19})(?:\/(\d{1,19}))?$/

/** @throws InvalidArgumentError */
function readMoment(text: string): Until {
  const [, commit, prepare = commit] = POSITION.exec(text) ?? []
  if (commit !== undefined && prepare !== undefined) {
    return { text: `position ${text}`, moment: { position: { commit: BigInt(commit), prepare: BigInt(prepare) } } }
  }
  try {
    return { text, moment: { time: readUntil(text) } }
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    throw new InvalidArgumentError(`${error.message} Or a position, such as 1234.`)
  }
}

async function replay(open: Open, options: ReplayOptions): Promise<void> {
  const into = resolve(options.into)
  checkFolder(into, resolve(readSettings(process.env).DATA_DIR))
  const act = { act: 'replay', subject: `${options.until.text} into ${into}` }
  await withInstallation(
    open,
    administering(act, async (source, origin) => {
      if (!isReached(await source.store.head(), Date.now(), options.until.moment)) {
        throw new BadUsage(`--until ${options.until.text}: the log has not come there yet; name a moment of the past`)
      }
      const isNew = !existsSync(into)
      mkdirSync(into, { recursive: true, mode: 0o700 })
      try {
        const made = await fill(open, source, into, options.until, { origin, clock: Date.now })
        report(made, into, options)
      } catch (error) {
        for (const part of readdirSync(into)) rmSync(join(into, part), { recursive: true })
        if (isNew) rmSync(into, { recursive: true })
        throw error
      }
    }),
  )
}

/** @throws BadUsage */
function checkFolder(into: string, dataDir: string): void {
  if (!relative(dataDir, into).startsWith('..')) throw new BadUsage(`${into} is in DATA_DIR: name a folder elsewhere`)
  if (existsSync(into) && readdirSync(into).length > 0) throw new BadUsage(`${into} is not empty: name a new folder`)
}

type Made = { readonly events: number; readonly last: StoredEvent; readonly missing: readonly string[] }

async function fill(open: Open, source: Installation, into: string, until: Until, steps: Moving): Promise<Made> {
  const { settings, store, keys, files } = source
  if (settings.MASTER_KEY === undefined) keepMasterKey(into, keys.current)
  const embedded = { EVENT_STORE: 'sqlite', READ_MODEL: 'sqlite', MAILER: 'outbox' }
  const target = await open({ ...settings, ...embedded, DATA_DIR: into }, 'filled')
  try {
    const copy = randomUUID()
    const from =
      settings.EVENT_STORE === 'sqlite' ? resolve(settings.DATA_DIR) : withoutCredentials(settings.EVENT_STORE)
    await beginCopy(steps, target.store, { copy, from, log: await store.identity(), replay: true })
    await joinStores({ store: target.store, ...steps }, await joinedOf(target))
    const { events, last } = await copyUntil(store, target.store, until)
    const missing = await copyFiles(files, target.files, (await factsOf(target.store)).files)
    await carryPersons(source.persons.all(), target)
    await closeReplay(steps, target.store, { copy, until: until.text, events })
    return { events, last, missing }
  } finally {
    await target.close()
  }
}

/** @throws Failed where there was nothing then */
async function copyUntil(
  source: EventStore,
  target: EventStore,
  { moment, text }: Until,
): Promise<Omit<Made, 'missing'>> {
  let events = 0
  let last: StoredEvent | undefined
  let batch: StoredEvent[] = []
  const write = async () => {
    if (batch.length > 0) await writeInOrder(target, appendsOf(batch))
    batch = []
  }
  for await (const event of copied(untilMoment(source.readAll('start'), moment))) {
    batch.push(event)
    events++
    last = event
    if (batch.length === AT_ONCE) await write()
  }
  await write()
  if (last === undefined) throw new Failed(`At ${text} the log had no events yet: name a later moment`)
  return { events, last }
}

/** @returns those that the source does not have any more, or not whole */
async function copyFiles(source: Files, target: Files, digests: ReadonlySet<string>): Promise<string[]> {
  const missing: string[] = []
  for (const digest of digests) if ((await copyWhole(source, target, digest)) === undefined) missing.push(digest)
  return missing
}

function report({ events, last, missing }: Made, into: string, options: ReplayOptions): void {
  if (missing.length > 0) {
    note(`${count(missing.length)} files of that time are gone: they were removed since, and answer 404`)
  }
  const position = shownPosition(last.position)
  const text = `${count(events)} events, up to position ${position}, are in ${into}. Serve it by \`serve --read-only\`.`
  printResult(options, { until: options.until.text, position, events, into }, text)
}
