import { z } from 'zod'
import { editDistance } from '../domain/dictionaries/edit-distance.ts'
import { LOG_LEVELS } from '../runtime/logger.ts'
import { EVENT_STORES, MAILERS, READ_MODELS } from './store-engines.ts'
import {
  describeAddresses,
  engineOf,
  hasScheme,
  isAddressOf,
  isStoredOnServer,
  parameterFaults,
  withoutCredentials,
} from './store-addresses.ts'

/** What links in answers and mails start with, by API. */
export type PublicUrls = { readonly base: string; readonly auth: string; readonly secrets: string }

/** @param port the one that is really listened on, where the setting says 0 */
export function publicUrlsOf({ HOST, BASE_URL, AUTH_URL, SECRETS_URL }: Settings, port: number): PublicUrls {
  const own = localUrl({ HOST }, port)
  return { base: BASE_URL ?? own, auth: AUTH_URL ?? own, secrets: SECRETS_URL ?? own }
}

/** Where a port of this process is reached from its own machine. */
export function localUrl({ HOST }: Pick<Settings, 'HOST'>, port: number): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? 'localhost' : HOST.includes(':') ? `[${HOST}]` : HOST
  return `http://${host}:${port}`
}

/** Whether clients come by https, as far as the operator says where they come. */
export const isPublicByHttps = ({ BASE_URL }: Settings): boolean => BASE_URL?.startsWith('https:') === true

const ROLES = ['http', 'projections'] as const

const address = z
  .string()
  .refine((value) => /^https?:\/\//.test(value) && URL.canParse(value))
  .transform((value) => value.replace(/\/+$/, ''))
const key = z.base64().refine((value) => Buffer.from(value, 'base64').length === 32)
/** Browsers leave out the port that is the scheme's own. */
const normalizeOrigin = (origin: string) =>
  /^https?:\/\/[^/?#]+$/.test(origin) && URL.canParse(origin) ? new URL(origin).origin : origin
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#,*]+$/
const origins = z
  .string()
  .default('')
  .transform((value) =>
    value
      .split(',')
      .map((origin) => normalizeOrigin(origin.trim().toLowerCase().replace(/\/$/, '')))
      .filter((origin) => origin !== ''),
  )
  .refine((list) => list.every((origin) => ORIGIN.test(origin)) || (list.length === 1 && list[0] === '*'))
  .transform((list) => (list[0] === '*' ? ('*' as const) : new Set(list)))
const flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true')
const whole = (min: number, max: number) => z.coerce.number().int().min(min).max(max)

/** Never a folder that is tracked or shipped: npm and Docker would pack the key, the log and the vault with the program. */
export const DATA_DIR = './adamant-data'

/** Every setting with the sentence that says what would be right. The names are the operator's interface. */
const shape = {
  HOST: rule(z.string().min(1).default('127.0.0.1'), 'an address to listen on, such as 127.0.0.1 or 0.0.0.0'),
  PORT: rule(whole(0, 65535).default(8080), 'a port, 0 to 65535 (0 takes a free one)'),
  DATA_DIR: rule(z.string().min(1).default(DATA_DIR), 'a folder that can be written to'),
  EVENT_STORE: store(EVENT_STORES, 'sqlite'),
  READ_MODEL: store(READ_MODELS, 'sqlite'),
  MAILER: store(MAILERS, 'outbox'),
  MAIL_FROM: rule(
    z
      .string()
      .regex(/^[^\r\n]+@[^\r\n]+$/)
      .default('Adamant <adamant@localhost>'),
    'an e-mail address, such as Adamant <no-reply@example.com>',
  ),
  BASE_URL: rule(address.optional(), 'the public address of the API, such as https://api.example.com'),
  AUTH_URL: rule(address.optional(), 'the public address of the token server, such as https://auth.example.com'),
  SECRETS_URL: rule(address.optional(), 'the public address of the secrets API, such as https://secrets.example.com'),
  CORS_ORIGINS: rule(
    origins,
    '* or a list of origins with commas, such as https://shop.example.com,http://localhost:3000; none by default',
  ),
  MASTER_KEY: rule(key.optional(), '32 bytes in base64, as `openssl rand -base64 32` makes them'),
  MASTER_KEY_OLD: rule(key.optional(), '32 bytes in base64: the key before the one in MASTER_KEY'),
  ROLES: rule(
    z
      .string()
      .default('http,projections')
      .transform((value) => value.split(',').map((role) => role.trim()))
      .pipe(z.array(z.enum(ROLES)).min(1)),
    'http, projections, or both with a comma',
  ),
  TOKEN_TTL: rule(whole(1, 31_536_000).default(604_800), 'seconds an access token lives, 1 to 31536000'),
  STALE_READS: rule(
    whole(0, 86_400).default(300),
    'seconds for which reads go on while the log is away, 0 to 86400 (0 refuses them at once)',
  ),
  REFRESH_TTL: rule(whole(1, 315_360_000).default(1_209_600), 'seconds a refresh token lives, 1 to 315360000'),
  SECRETS_ANONYMOUS: rule(flag, 'true or false'),
  MAILS_PER_RECIPIENT: rule(whole(0, 1_000_000).default(20), 'mails to one address in an hour, 0 for no limit'),
  MAILS_PER_ACCOUNT: rule(whole(0, 1_000_000).default(200), 'mails of one account in an hour, 0 for no limit'),
  RATE_LIMIT: rule(whole(0, 1_000_000_000).default(10_000), 'requests in 10 minutes, 0 for no limit'),
  TRUST_PROXY: rule(whole(0, 16).default(0), 'the number of proxies in front, 0 to 16'),
  MAX_CONNECTIONS: rule(
    whole(16, 1_000_000).default(4_096),
    'connections at a time, 16 to 1000000; one address has at most half of them where TRUST_PROXY is 0',
  ),
  METRICS_PORT: rule(whole(0, 65535).optional(), 'a port of its own for /metrics, 0 to 65535 (0 takes a free one)'),
  SECURITY_CONTACT: rule(
    z
      .string()
      .trim()
      .transform((value) => (/^[^@\s:/]+@[^@\s:/]+$/.test(value) ? `mailto:${value}` : value))
      .refine((value) => /^(?:mailto:[^@\s]+@[^@\s]+|https:\/\/\S+|tel:\+[\d-]+)$/.test(value))
      .optional(),
    'an e-mail address, or an address with https:, for who finds a weakness',
  ),
  LOG_ADDRESSES: rule(flag, 'true or false'),
  WEBHOOKS_HTTP: rule(flag, 'true (webhooks may have http addresses) or false'),
  WEBHOOKS_PRIVATE: rule(flag, 'true (webhooks may go to private addresses, for development) or false'),
  LOG_LEVEL: rule(z.enum(LOG_LEVELS).default('info'), LOG_LEVELS.join(', ')),
}

/**
 * Names that a setting had before, for as long as they are read, and the values by which one of ours is told from what
 * others mean by the name: login shells set MAIL to the user's mailbox.
 */
const RENAMED_SETTINGS: Readonly<
  Partial<Record<keyof typeof shape, { readonly name: string; readonly isOurs: (value: string) => boolean }>>
> = {
  MAILER: { name: 'MAIL', isOurs: (value) => hasScheme(MAILERS, value) },
}

function store(engines: Parameters<typeof describeAddresses>[0], byDefault: string) {
  return rule(
    z
      .string()
      .refine((value) => isAddressOf(engines, value))
      .default(byDefault),
    describeAddresses(engines),
  )
}

type SettingRule<Schema> = { readonly schema: Schema; readonly requirement: string }
function rule<Schema extends z.ZodType>(schema: Schema, requirement: string): SettingRule<Schema> {
  return { schema, requirement }
}

/** The names by which the environment gives settings. */
export const SETTINGS: readonly string[] = Object.keys(shape)

export type Settings = { readonly [Name in keyof typeof shape]: z.output<(typeof shape)[Name]['schema']> }

/** Settings that can't be used; every one of them is named with what would be right. */
export class BadSettings extends Error {
  override readonly name = 'BadSettings'
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'))
  }
}

/**
 * Reads the settings from an environment; an empty value counts as not set.
 * @throws BadSettings with all that is wrong at once; no value of a key or an address with a password is repeated
 */
export function readSettings(environment: Environment): Settings {
  const faults: string[] = []
  const entries = Object.entries(shape).map(([setting, { schema, requirement }]) => {
    const { name, value } = readSetting(setting, environment)
    const result = schema.safeParse(value)
    if (!result.success) faults.push(`${name} must be ${requirement}${describeGivenValue(name, value)}`)
    return [setting, result.data]
  })
  if (isStoredOnServer(EVENT_STORES, environment['EVENT_STORE'] ?? '') && !environment['MASTER_KEY']) {
    faults.push(
      'MASTER_KEY is required where EVENT_STORE is not sqlite: 32 bytes in base64, the same for every instance',
    )
  }
  for (const [setting, engines] of Object.entries({ EVENT_STORE: EVENT_STORES, READ_MODEL: READ_MODELS })) {
    for (const fault of parameterFaults(engines, environment[setting] ?? '')) faults.push(`${setting} ${fault}`)
  }
  faults.push(...findMisspelledSettings(environment))
  if (faults.length > 0) throw new BadSettings(faults)
  return Object.fromEntries(entries) as Settings
}

type Environment = Readonly<Record<string, string | undefined>>

/** What the environment says of a setting, and by which of its names. */
function readSetting(setting: string, environment: Environment): { name: string; value: string | undefined } {
  const value = environment[setting] || undefined
  const former = RENAMED_SETTINGS[setting as keyof typeof shape]
  const earlier = former && environment[former.name]
  if (value !== undefined || earlier === undefined || !former?.isOurs(earlier)) return { name: setting, value }
  return { name: former.name, value: earlier }
}

/** Characters from which a name is told apart: shorter ones (HOST, PORT) are too near to names of others, such as HOME. */
const LONG_NAME = 8

/** cronie's name for the sender of its own mails. */
const NAMES_OF_OTHERS = ['MAILFROM']

/**
 * Names that are one of ours but for case, an underscore or a letter or two, where ours is not set: a service that passes over
 * DATADIR writes to a folder that nobody meant.
 */
function findMisspelledSettings(environment: Environment): string[] {
  const unset = SETTINGS.filter((name) => !environment[name] && name.length >= LONG_NAME)
  const given = Object.keys(environment).filter(
    (name) => environment[name] && !SETTINGS.includes(name) && !NAMES_OF_OTHERS.includes(name),
  )
  return given.flatMap((name) => {
    const meant = unset.find((setting) => isNear(name, setting))
    return meant === undefined
      ? []
      : [`${name} is no setting: it is called ${meant}. Where others need ${name}, set ${meant} as well`]
  })
}

const letters = (name: string) => name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
const isNear = (name: string, setting: string) =>
  letters(name) === letters(setting) || editDistance(name.toUpperCase(), setting) <= (setting.length >= 10 ? 2 : 1)

/** The settings that an environment gives by a former name, each as a sentence for the log. */
export function renamedSettingWarnings(environment: Environment): string[] {
  return SETTINGS.flatMap((setting) => {
    const { name } = readSetting(setting, environment)
    return name === setting ? [] : [`${name} is called ${setting} now, and is still read: rename it`]
  })
}

const describeGivenValue = (name: string, given: string | undefined) =>
  given === undefined || name.startsWith('MASTER_KEY') || given.includes('@') ? '' : `, got ${given.slice(0, 60)}`

/** What whoever starts a service with these stores is to know, each as a sentence for the log. */
export const storeWarnings = ({ EVENT_STORE, READ_MODEL, MAILER }: Settings): string[] =>
  [engineOf(EVENT_STORES, EVENT_STORE), engineOf(READ_MODELS, READ_MODEL), engineOf(MAILERS, MAILER)].flatMap(
    ({ warning = [] }) => warning,
  )

const KEYS: ReadonlySet<string> = new Set(['MASTER_KEY', 'MASTER_KEY_OLD'])

/** Settings as logs may have them: of a key whether it is set, of an address neither user, password nor options. */
export const loggableSettings = (settings: Settings): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, loggableValue(name, value)]))

function loggableValue(name: string, value: unknown): unknown {
  if (KEYS.has(name)) return value === undefined ? 'not set' : 'set'
  if (value instanceof Set) return [...(value as ReadonlySet<unknown>)]
  return typeof value === 'string' && value.includes('://') ? withoutCredentials(value) : (value ?? null)
}
