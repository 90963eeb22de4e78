import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BadSettings, readSettings, type Settings } from '../../wiring/settings.ts'
import { withoutCredentials } from '../../wiring/store-addresses.ts'
import { BadUsage } from '../failure.ts'

/** One installation as `--from` and `--to` name it. */
export type Place = {
  readonly events: string
  readonly reads: string
  /** Where its folder is; undefined where neither engine has one. */
  readonly folder: string | undefined
  /** For people, and for the other log: without a password. */
  readonly shown: string
}

const SQLITE = 'sqlite:'
/** The read models' address begins behind this comma; the ones between hosts of an address are not followed by a scheme. */
const BETWEEN = /,(?=(?:mongodb(?:\+srv)?:\/\/|sqlite:))/

export const PLACES = `An installation is named by one folder, or by its event store and its read models with a comma:
  sqlite:DIR
  esdb://HOST:PORT,mongodb://HOST:PORT/DATABASE
  esdb://HOST:PORT,sqlite:DIR
  sqlite:DIR,mongodb://HOST:PORT/DATABASE
  env:NAME      what the environment variable NAME says, so that no password shows in the list of processes`

/** @throws BadUsage */
export function placeOf(option: string, text: string, env: NodeJS.ProcessEnv): Place {
  if (text.startsWith('env:')) {
    const named = env[text.slice(4)]
    if (!named) throw new BadUsage(`${option} ${text}: the environment has no variable of this name`)
    return placeOf(option, named, {})
  }
  const [events = '', reads = events, ...others] = text.split(BETWEEN)
  const folders = [events, reads].filter((part) => part.startsWith(SQLITE)).map((part) => part.slice(SQLITE.length))
  const bad =
    others.length > 0 ||
    folders.includes('') ||
    new Set(folders).size > 1 ||
    !/^(sqlite:|esdb(\+discover)?:\/\/)/.test(events) ||
    !/^(sqlite:|mongodb(\+srv)?:\/\/)/.test(reads)
  if (bad) throw new BadUsage(`${option} does not name an installation. ${PLACES}`)
  const folder = folders[0] === undefined ? undefined : resolve(folders[0])
  const shown = [...new Set([events, reads])].map((part) =>
    part.startsWith(SQLITE) ? `sqlite:${folder}` : withoutCredentials(part),
  )
  return { events, reads, folder, shown: shown.join(',') }
}

/**
 * The settings that `serve` would have there; all else is of the environment.
 * @throws BadSettings
 */
export function settingsOf(place: Place, env: NodeJS.ProcessEnv): Settings {
  return readSettings({
    ...env,
    EVENT_STORE: place.events.startsWith(SQLITE) ? 'sqlite' : place.events,
    READ_MODEL: place.reads.startsWith(SQLITE) ? 'sqlite' : place.reads,
    ...(place.folder !== undefined && { DATA_DIR: place.folder }),
    LOG_LEVEL: env['LOG_LEVEL'] ?? 'warn',
  })
}

/** @throws BadUsage where the two can't be copied into each other, or the source is not there */
export function checkPlaces(from: Place, to: Place): void {
  const sameEvents = from.events === to.events || (isFolder(from) && isFolder(to) && from.folder === to.folder)
  if (sameEvents) throw new BadUsage('--from and --to have the same event store: there is nothing to be copied')
  if (from.folder !== undefined && from.folder === to.folder) {
    throw new BadUsage('--from and --to have the same folder: name another one for --to')
  }
  if (isFolder(from) && !existsSync(join(from.folder ?? '', 'events.db'))) {
    throw new BadUsage(`--from ${from.shown}: there is no events.db in this folder`)
  }
}

const isFolder = ({ events }: Place) => events.startsWith(SQLITE)

/** What a master key is missing for. @throws BadSettings */
export function checkKey(from: Place, to: Place, env: NodeJS.ProcessEnv): void {
  if (env['MASTER_KEY'] || (isFolder(from) && isFolder(to))) return
  const file = [from, to].find(isFolder)?.folder
  throw new BadSettings([
    'MASTER_KEY must be the key of the installation that is copied, which EventStoreDB does not keep' +
      (file === undefined || !isFolder(from) ? '' : `: it is in ${join(file, 'master.key')}`),
  ])
}
