import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { BadSettings, readSettings, type Settings } from '../wiring/settings.ts'
import { EVENT_STORES, READ_STORES, type StoreEngine } from '../wiring/store-engines.ts'
import { engineOf, hasScheme, isStoredOnServer, withoutCredentials } from '../wiring/store-addresses.ts'
import { BadUsage } from '../maintenance/operation.ts'

/** An installation as given by `--from` and `--to`. */
export type InstallationAddress = {
  readonly eventStore: string
  readonly readModels: string
  /** Absolute path; undefined if both stores are on servers. */
  readonly folder: string | undefined
  /** Without passwords; shown to the operator and recorded in the other log. */
  readonly redactedText: string
}

type EnginesByScheme = Readonly<Record<string, StoreEngine<unknown, never>>>

/** Such as `sqlite:DIR`, or the address of a server. */
const examplesOf = (engines: EnginesByScheme): string[] =>
  Object.values(engines).flatMap(({ location, example = [] }) =>
    location === 'in DATA_DIR' ? `${example}:DIR` : example,
  )

const INSTALLATIONS = examplesOf(EVENT_STORES).flatMap((eventStore) =>
  examplesOf(READ_STORES).map((readModels) => (eventStore === readModels ? eventStore : `${eventStore},${readModels}`)),
)

export const INSTALLATION_ADDRESS_HELP = `Address of an installation: a folder, or the event store and the read models, separated by a comma:
  ${INSTALLATIONS.join('\n  ')}
  env:NAME      read the address from the environment variable NAME, which hides passwords from the process list`

/** The comma before the read models' address: it is followed by a scheme, unlike commas between the hosts of an address. */
const ADDRESS_SEPARATOR = new RegExp(`,(?=(?:${Object.keys(READ_STORES).join('|').replaceAll('+', '\\+')}):)`)

/** @throws BadUsage */
export function parseInstallationAddress(option: string, text: string, env: NodeJS.ProcessEnv): InstallationAddress {
  if (text.startsWith('env:')) {
    const address = env[text.slice(4)]?.trim()
    if (!address) throw new BadUsage(`${option} ${text}: the environment variable is not set`)
    return parseInstallationAddress(option, address, {})
  }
  const [eventStore = '', readModels = eventStore, ...extraParts] = text.split(ADDRESS_SEPARATOR)
  const folders = [folderIn(EVENT_STORES, eventStore), folderIn(READ_STORES, readModels)].filter(
    (part) => part !== undefined,
  )
  const isInvalid =
    extraParts.length > 0 ||
    folders.includes('') ||
    new Set(folders).size > 1 ||
    !isStoreAddress(EVENT_STORES, eventStore) ||
    !isStoreAddress(READ_STORES, readModels)
  if (isInvalid) throw new BadUsage(`${option}: not a valid address. ${INSTALLATION_ADDRESS_HELP}`)
  const folder = folders[0] === undefined ? undefined : resolve(folders[0])
  const redactedParts = new Set([
    redactStoreAddress(EVENT_STORES, eventStore, folder),
    redactStoreAddress(READ_STORES, readModels, folder),
  ])
  return { eventStore, readModels, folder, redactedText: [...redactedParts].join(',') }
}

const schemeOf = (part: string) => part.slice(0, part.indexOf(':'))

/** `SCHEME:DIR` for an embedded store, `SCHEME://…` for a server. */
const isStoreAddress = (engines: EnginesByScheme, part: string): boolean =>
  part.includes(':') &&
  hasScheme(engines, part) &&
  (!isStoredOnServer(engines, part) || part.startsWith(`${schemeOf(part)}://`))

const folderIn = (engines: EnginesByScheme, part: string): string | undefined =>
  isStoreAddress(engines, part) && !isStoredOnServer(engines, part) ? part.slice(part.indexOf(':') + 1) : undefined

const redactStoreAddress = (engines: EnginesByScheme, part: string, folder: string | undefined): string =>
  isStoredOnServer(engines, part) ? withoutCredentials(part) : `${schemeOf(part)}:${folder}`

/** The value of EVENT_STORE or READ_MODEL. */
const settingOf = (engines: EnginesByScheme, part: string): string =>
  isStoredOnServer(engines, part) ? part : schemeOf(part)

/**
 * The settings with which `serve` would run this installation: its stores, and the environment for everything else.
 * @throws BadSettings
 */
export function settingsOf(address: InstallationAddress, env: NodeJS.ProcessEnv): Settings {
  return readSettings({
    ...env,
    EVENT_STORE: settingOf(EVENT_STORES, address.eventStore),
    READ_MODEL: settingOf(READ_STORES, address.readModels),
    ...(address.folder !== undefined && { DATA_DIR: address.folder }),
  })
}

/** @throws BadUsage if both share a store or a folder, or the source does not exist */
export function checkAddresses(from: InstallationAddress, to: InstallationAddress): void {
  const isSameEventStore =
    from.eventStore === to.eventStore ||
    (hasEmbeddedEventStore(from) && hasEmbeddedEventStore(to) && from.folder === to.folder)
  if (isSameEventStore) throw new BadUsage('--from and --to have the same event store: choose another one for --to')
  if (from.folder !== undefined && from.folder === to.folder) {
    throw new BadUsage('--from and --to have the same folder: choose another one for --to')
  }
  const { file } = engineOf(EVENT_STORES, from.eventStore)
  if (file !== undefined && !existsSync(join(from.folder ?? '', file))) {
    throw new BadUsage(`--from ${from.redactedText}: the folder has no ${file}`)
  }
}

const hasEmbeddedEventStore = ({ eventStore }: InstallationAddress) => !isStoredOnServer(EVENT_STORES, eventStore)

/** @throws BadSettings if MASTER_KEY is required and not set */
export function checkKey(from: InstallationAddress, to: InstallationAddress, env: NodeJS.ProcessEnv): void {
  if (env['MASTER_KEY'] || (hasEmbeddedEventStore(from) && hasEmbeddedEventStore(to))) return
  const folder = [from, to].find(hasEmbeddedEventStore)?.folder
  throw new BadSettings([
    'MASTER_KEY must be the master key of the source installation, since EventStoreDB does not store it' +
      (folder === undefined || !hasEmbeddedEventStore(from) ? '' : `; it is in ${join(folder, 'master.key')}`),
  ])
}
