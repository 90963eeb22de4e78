import { Command } from 'commander'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Installation } from '../wiring/installation.ts'
import { EVENT_STORES, LOG_FILE } from '../wiring/engines.ts'
import { liesOnServer } from '../wiring/store-addresses.ts'
import { readSettings } from '../wiring/settings.ts'
import type { Files } from '../stores/ports/files.ts'
import { VERSION } from '../runtime/version.ts'
import { administering } from './administer.ts'
import type { Backups } from '../maintenance/backup/backups.ts'
import { digestOfFile, type Digested } from '../maintenance/backup/digests.ts'
import { copyWhole } from '../maintenance/backup/files.ts'
import { factsOf, type LogFacts } from '../maintenance/backup/log-facts.ts'
import { FILES_FOLDER, writeManifest, type Manifest } from '../maintenance/backup/manifest.ts'
import { writePersons } from '../maintenance/backup/persons.ts'
import { SERVER_BACKUP } from '../maintenance/backup/servers.ts'
import { BadUsage, Failed } from '../maintenance/operation.ts'
import { withInstallation, type Open } from './installed.ts'
import { note, printResult, type OutputOptions } from './output.ts'
import { count, progressBar } from './progress-bar.ts'

/** `backup`: what an installation can be restored from, taken while it runs. */
export function backupCommand(open: Open, backups: Backups): Command {
  return new Command('backup')
    .description(
      'copy the log and the files of an installation, beside the running service; never its secrets or its key',
    )
    .argument('<folder>', 'a new or empty one, where the backup goes')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', HELP)
    .action((to: string, options: OutputOptions) => backup(open, backups, resolve(to), options))
}

const HELP = `
The backup holds the log as it was at one moment, the files that it refers to, the sealed addresses of its accounts, and a
manifest with the SHA-256 of each.
It has no one-time secrets, and not the master key: keep a copy of that elsewhere. Restore it by \`npx adamant restore\`.

${SERVER_BACKUP}

Example:
  npx adamant backup /backups/adamant-2026-11-22`

async function backup(open: Open, backups: Backups, to: string, options: OutputOptions): Promise<void> {
  const started = performance.now()
  const { DATA_DIR, EVENT_STORE } = readSettings(process.env)
  checkTarget(to, resolve(DATA_DIR))
  const act = administering({ act: 'backup', subject: to }, async (installation) => {
    const isNew = !existsSync(to)
    mkdirSync(to, { recursive: true, mode: 0o700 })
    try {
      const parts = await (liesOnServer(EVENT_STORES, EVENT_STORE) ? ofServer : ofFolder)({ installation, backups, to })
      const made = { ...parts, persons: await writePersons(to, installation.persons, backups.sync) }
      writeManifest(to, made, backups.sync)
      return made
    } catch (error) {
      for (const part of readdirSync(to)) rmSync(join(to, part), { recursive: true })
      if (isNew) rmSync(to, { recursive: true })
      throw error
    }
  })
  const manifest = await withInstallation(open, act)
  report(manifest, to, (performance.now() - started) / 1000, options)
}

/** @throws BadUsage */
function checkTarget(to: string, dataDir: string): void {
  if (!relative(dataDir, to).startsWith('..')) {
    throw new BadUsage(`${to} is in DATA_DIR, and would be lost with it: name a folder elsewhere, best on another disk`)
  }
  if (existsSync(to) && readdirSync(to).length > 0) throw new BadUsage(`${to} is not empty: name a new folder`)
}

type Making = { readonly installation: Installation; readonly backups: Backups; readonly to: string }

/** A file that goes between the copy of the log and its own is in no newer copy of the log. */
const COPIES = 3

/** The log first: what it refers to has been there before it. */
async function ofFolder(making: Making): Promise<Manifest> {
  const { installation, backups, to } = making
  const file = join(to, LOG_FILE)
  const files = await filesInto(making)
  try {
    for (let copy = 1; ; copy++) {
      rmSync(file, { force: true })
      await copyLog(making, file)
      const facts = await readCopy(backups, file)
      const missing = await files.copy(installation.files, facts.files)
      if (missing.length === 0 || copy === COPIES)
        return manifestOf(facts, await digestOfFile(file), files.held, missing)
    }
  } finally {
    await files.close()
  }
}

/** The log is the server's to back up, before this: what it refers to is in the files then. */
async function ofServer(making: Making): Promise<Manifest> {
  note(SERVER_BACKUP)
  const files = await filesInto(making)
  try {
    const facts = await factsOf(making.installation.store)
    return manifestOf(facts, null, files.held, await files.copy(making.installation.files, facts.files))
  } finally {
    await files.close()
  }
}

async function copyLog({ installation, backups }: Making, file: string): Promise<void> {
  let bar: ReturnType<typeof progressBar> | undefined
  await backups.copyLog(installation.settings, file, (done, total) => {
    bar ??= progressBar('copying the log', total, 'pages')
    bar.update(done)
  })
  bar?.end()
}

async function readCopy(backups: Backups, file: string): Promise<LogFacts> {
  const store = backups.openLog(file)
  try {
    return await factsOf(store)
  } finally {
    await store.close()
    backups.settleLog(file)
  }
}

type Copied = {
  /** Bytes by digest. */
  readonly held: Map<string, number>
  /** Copies what is not there yet. @returns those that the source does not have whole */
  copy(source: Files, digests: ReadonlySet<string>): Promise<string[]>
  close(): Promise<void>
}

async function filesInto({ backups, to }: Making): Promise<Copied> {
  const target = backups.openFiles(join(to, FILES_FOLDER))
  const held = new Map<string, number>()
  return {
    held,
    async copy(source, digests) {
      const bar = progressBar('copying files', digests.size, 'files')
      const missing: string[] = []
      let done = 0
      for (const digest of digests) {
        const bytes = held.get(digest) ?? (await copyWhole(source, target, digest))
        if (bytes === undefined) missing.push(digest)
        else held.set(digest, bytes)
        bar.update(++done)
      }
      bar.end()
      return missing
    },
    close: () => target.close(),
  }
}

function manifestOf(
  { identity, epoch, events, position, last }: LogFacts,
  file: Digested | null,
  held: ReadonlyMap<string, number>,
  missing: string[],
): Manifest {
  const files = [...held].map(([digest, bytes]) => ({ digest, bytes }))
  return {
    format: 'adamant-backup/1',
    release: VERSION,
    made: new Date().toISOString(),
    log: { identity, epoch, events, position, last, file },
    files,
    missing,
  }
}

/** @throws Failed where the installation itself lacks files: the backup is as good as that */
function report({ log, files, missing }: Manifest, to: string, seconds: number, options: OutputOptions): void {
  const bytes = files.reduce((sum, file) => sum + file.bytes, log.file?.bytes ?? 0)
  const result = { events: log.events, files: files.length, bytes, position: log.position, seconds }
  const text = `${count(log.events)} events and ${count(files.length)} files, ${count(bytes)} bytes, are in ${to}`
  printResult(options, result, text)
  if (missing.length === 0) return
  throw new Failed(
    `The backup is written, but ${count(missing.length)} files that certifications refer to are missing or damaged in the ` +
      `installation: ${missing.slice(0, 10).join(', ')}. Keep an older backup, which may have them`,
  )
}
