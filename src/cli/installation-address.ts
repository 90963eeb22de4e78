import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BadSettings, readSettings, type Settings } from '../wiring/settings.ts'
import { EVENT_STORES, READ_MODELS, type StoreEngine } from '../wiring/store-engines.ts'
import { engineOf, hasScheme, isStoredOnServer, withoutCredentials } from '../wiring/store-addresses.ts'
import { BadUsage } from '../maintenance/operation.ts'

/** One installation as `--from` and `--to` name it. */
export type InstallationAddress = {
  readonly eventStore: string
  readonly readModels: string
  /** Where its folder is; undefined where neither engine has one. */
  readonly folder: string | undefined
  /** For people, and for the other log: without a password. */
  readonly redactedText: string
}

type EnginesByScheme = Readonly<Record<string, StoreEngine<unknown, never>>>

/** `sqlite:DIR`, or a server's address. */
const examplesOf = (engines: EnginesByScheme): string[] =>
  Object.values(engines).flatMap(({ location, example = [] }) =>
    location === 'in DATA_DIR' ? `${example}:DIR` : example,
  )

const INSTALLATIONS = examplesOf(EVENT_STORES).flatMap((events) =>
  examplesOf(READ_MODELS).map((reads) => (events === reads ? events : `${events},${reads}`)),
)

export const INSTALLATION_ADDRESS_HELP = `An installation is named by one folder, or by its event store and its read models with a comma:
  ${INSTALLATIONS.join('\n  ')}
  env:NAME      what the environment variable NAME says, so that no password shows in the list of processes`

/** The read models' address begins behind this comma; the ones between hosts of an address are not followed by a scheme. */
const ADDRESS_SEPARATOR = new RegExp(`,(?=(?:${Object.keys(READ_MODELS).join('|').replaceAll('+', '\\+')}):)`)

/** @throws BadUsage */
export function parseInstallationAddress(option: string, text: string, env: NodeJS.ProcessEnv): InstallationAddress {
  if (text.startsWith('env:')) {
    const named = env[text.slice(4)]
    if (!named) throw new BadUsage(`${option} ${text}: the environment has no variable of this name`)
    return parseInstallationAddress(option, named, {})
  }
  const [events = '', reads = events, ...others] = text.split(ADDRESS_SEPARATOR)
  const folders = [folderIn(EVENT_STORES, events), folderIn(READ_MODELS, reads)].filter((part) => part !== undefined)
  const bad =
    others.length > 0 ||
    folders.includes('') ||
    new Set(folders).size > 1 ||
    !isStoreAddress(EVENT_STORES, events) ||
    !isStoreAddress(READ_MODELS, reads)
  if (bad) throw new BadUsage(`${option} does not name an installation. ${INSTALLATION_ADDRESS_HELP}`)
  const folder = folders[0] === undefined ? undefined : resolve(folders[0])
  const shown = new Set([
    redactStoreAddress(EVENT_STORES, events, folder),
    redactStoreAddress(READ_MODELS, reads, folder),
  ])
  return { eventStore: events, readModels: reads, folder, redactedText: [...shown].join(',') }
}

const schemeOf = (part: string) => part.slice(0, part.indexOf(':'))

/** `SCHEME:` of what lies in a folder, or `SCHEME://` of a server. */
const isStoreAddress = (engines: EnginesByScheme, part: string): boolean =>
  part.includes(':') &&
  hasScheme(engines, part) &&
  (!isStoredOnServer(engines, part) || part.startsWith(`${schemeOf(part)}://`))

const folderIn = (engines: EnginesByScheme, part: string): string | undefined =>
  isStoreAddress(engines, part) && !isStoredOnServer(engines, part) ? part.slice(part.indexOf(':') + 1) : undefined

const redactStoreAddress = (engines: EnginesByScheme, part: string, folder: string | undefined): string =>
  isStoredOnServer(engines, part) ? withoutCredentials(part) : `${schemeOf(part)}:${folder}`

/** As the environment would say it. */
const settingOf = (engines: EnginesByScheme, part: string): string =>
  isStoredOnServer(engines, part) ? part : schemeOf(part)

/**
 * The settings that `serve` would have there; all else is of the environment.
 * @throws BadSettings
 */
export function settingsOf(place: InstallationAddress, env: NodeJS.ProcessEnv): Settings {
  return readSettings({
    ...env,
    EVENT_STORE: settingOf(EVENT_STORES, place.eventStore),
    READ_MODEL: settingOf(READ_MODELS, place.readModels),
    ...(place.folder !== undefined && { DATA_DIR: place.folder }),
    LOG_LEVEL: env['LOG_LEVEL'] ?? 'warn',
  })
}

/** @throws BadUsage where the two can't be copied into each other, or the source is not there */
export function checkAddresses(from: InstallationAddress, to: InstallationAddress): void {
  const sameEvents =
    from.eventStore === to.eventStore ||
    (hasEmbeddedEventStore(from) && hasEmbeddedEventStore(to) && from.folder === to.folder)
  if (sameEvents) throw new BadUsage('--from and --to have the same event store: there is nothing to be copied')
  if (from.folder !== undefined && from.folder === to.folder) {
    throw new BadUsage('--from and --to have the same folder: name another one for --to')
  }
  const { file } = engineOf(EVENT_STORES, from.eventStore)
  if (file !== undefined && !existsSync(join(from.folder ?? '', file))) {
    throw new BadUsage(`--from ${from.redactedText}: there is no ${file} in this folder`)
  }
}

const hasEmbeddedEventStore = ({ eventStore }: InstallationAddress) => !isStoredOnServer(EVENT_STORES, eventStore)

/** What a master key is missing for. @throws BadSettings */
export function checkKey(from: InstallationAddress, to: InstallationAddress, env: NodeJS.ProcessEnv): void {
  if (env['MASTER_KEY'] || (hasEmbeddedEventStore(from) && hasEmbeddedEventStore(to))) return
  const file = [from, to].find(hasEmbeddedEventStore)?.folder
  throw new BadSettings([
    'MASTER_KEY must be the key of the installation that is copied, which EventStoreDB does not keep' +
      (file === undefined || !hasEmbeddedEventStore(from) ? '' : `: it is in ${join(file, 'master.key')}`),
  ])
}
