import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BadSettings, readSettings, type Settings } from '../wiring/settings.ts'
import { EVENT_STORES, READ_MODELS, type Engine } from '../wiring/engines.ts'
import { engineOf, hasScheme, liesOnServer, withoutCredentials } from '../wiring/store-addresses.ts'
import { BadUsage } from '../maintenance/operation.ts'

/** One installation as `--from` and `--to` name it. */
export type Place = {
  readonly events: string
  readonly reads: string
  /** Where its folder is; undefined where neither engine has one. */
  readonly folder: string | undefined
  /** For people, and for the other log: without a password. */
  readonly shown: string
}

type Engines = Readonly<Record<string, Engine<unknown, never>>>

/** `sqlite:DIR`, or a server's address. */
const examplesOf = (engines: Engines): string[] =>
  Object.values(engines).flatMap(({ lies, example = [] }) => (lies === 'in DATA_DIR' ? `${example}:DIR` : example))

const INSTALLATIONS = examplesOf(EVENT_STORES).flatMap((events) =>
  examplesOf(READ_MODELS).map((reads) => (events === reads ? events : `${events},${reads}`)),
)

export const PLACES = `An installation is named by one folder, or by its event store and its read models with a comma:
  ${INSTALLATIONS.join('\n  ')}
  env:NAME      what the environment variable NAME says, so that no password shows in the list of processes`

/** The read models' address begins behind this comma; the ones between hosts of an address are not followed by a scheme. */
const BETWEEN = new RegExp(`,(?=(?:${Object.keys(READ_MODELS).join('|').replaceAll('+', '\\+')}):)`)

/** @throws BadUsage */
export function placeOf(option: string, text: string, env: NodeJS.ProcessEnv): Place {
  if (text.startsWith('env:')) {
    const named = env[text.slice(4)]
    if (!named) throw new BadUsage(`${option} ${text}: the environment has no variable of this name`)
    return placeOf(option, named, {})
  }
  const [events = '', reads = events, ...others] = text.split(BETWEEN)
  const folders = [folderIn(EVENT_STORES, events), folderIn(READ_MODELS, reads)].filter((part) => part !== undefined)
  const bad =
    others.length > 0 ||
    folders.includes('') ||
    new Set(folders).size > 1 ||
    !isPart(EVENT_STORES, events) ||
    !isPart(READ_MODELS, reads)
  if (bad) throw new BadUsage(`${option} does not name an installation. ${PLACES}`)
  const folder = folders[0] === undefined ? undefined : resolve(folders[0])
  const shown = new Set([shownPart(EVENT_STORES, events, folder), shownPart(READ_MODELS, reads, folder)])
  return { events, reads, folder, shown: [...shown].join(',') }
}

const schemeOf = (part: string) => part.slice(0, part.indexOf(':'))

/** `SCHEME:` of what lies in a folder, or `SCHEME://` of a server. */
const isPart = (engines: Engines, part: string): boolean =>
  part.includes(':') &&
  hasScheme(engines, part) &&
  (!liesOnServer(engines, part) || part.startsWith(`${schemeOf(part)}://`))

const folderIn = (engines: Engines, part: string): string | undefined =>
  isPart(engines, part) && !liesOnServer(engines, part) ? part.slice(part.indexOf(':') + 1) : undefined

const shownPart = (engines: Engines, part: string, folder: string | undefined): string =>
  liesOnServer(engines, part) ? withoutCredentials(part) : `${schemeOf(part)}:${folder}`

/** As the environment would say it. */
const settingOf = (engines: Engines, part: string): string => (liesOnServer(engines, part) ? part : schemeOf(part))

/**
 * The settings that `serve` would have there; all else is of the environment.
 * @throws BadSettings
 */
export function settingsOf(place: Place, env: NodeJS.ProcessEnv): Settings {
  return readSettings({
    ...env,
    EVENT_STORE: settingOf(EVENT_STORES, place.events),
    READ_MODEL: settingOf(READ_MODELS, place.reads),
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
  const { file } = engineOf(EVENT_STORES, from.events)
  if (file !== undefined && !existsSync(join(from.folder ?? '', file))) {
    throw new BadUsage(`--from ${from.shown}: there is no ${file} in this folder`)
  }
}

const isFolder = ({ events }: Place) => !liesOnServer(EVENT_STORES, events)

/** What a master key is missing for. @throws BadSettings */
export function checkKey(from: Place, to: Place, env: NodeJS.ProcessEnv): void {
  if (env['MASTER_KEY'] || (isFolder(from) && isFolder(to))) return
  const file = [from, to].find(isFolder)?.folder
  throw new BadSettings([
    'MASTER_KEY must be the key of the installation that is copied, which EventStoreDB does not keep' +
      (file === undefined || !isFolder(from) ? '' : `: it is in ${join(file, 'master.key')}`),
  ])
}
