import { nearest } from '../domain/dictionaries/nearest.ts'

/** What an address's parameters may be; the client of the store gives them their meaning. */
type Engine = {
  /** Parameters that are handed on: the values that they may have, or any. */
  readonly takes: Readonly<Record<string, readonly string[] | 'any'>>
  /** Parameters that the client knows, and why they are not taken all the same. */
  readonly refuses: Readonly<Record<string, string>>
  /** Names are the same where this is the same. */
  readonly key: (name: string) => string
}

const OWN_DEADLINES = 'the service has deadlines and pauses of its own'
const LEADER = 'everything is read and written at the leader, and the service looks for it itself'
const NO_EFFECT = 'it has no effect here'

/** https://docs.kurrent.io/clients/grpc/getting-started.html#connection-string */
const EVENTSTOREDB: Engine = {
  takes: {
    tls: ['true', 'false'],
    tlsCaFile: 'any',
    userCertFile: 'any',
    userKeyFile: 'any',
    nodePreference: ['leader'],
    connectionName: 'any',
    keepAliveInterval: 'any',
    keepAliveTimeout: 'any',
  },
  refuses: {
    tlsVerifyCert:
      'the client ignores it and goes on verifying: name the authority of the certificates by tlsCaFile=FILE',
    nodePreference: LEADER,
    maxDiscoverAttempts: LEADER,
    discoveryInterval: LEADER,
    gossipTimeout: LEADER,
    defaultDeadline: OWN_DEADLINES,
    throwOnAppendFailure: NO_EFFECT,
  },
  key: (name) => name.toLowerCase().replaceAll(/[_-]/g, ''),
}

const MAJORITY =
  'what is acknowledged has been written by a majority and its journal, and what is read was acknowledged'

/** https://www.mongodb.com/docs/manual/reference/connection-string-options/ */
const MONGODB: Engine = {
  takes: {
    replicaSet: 'any',
    tls: ['true', 'false'],
    ssl: ['true', 'false'],
    tlsCAFile: 'any',
    tlsCRLFile: 'any',
    tlsCertificateKeyFile: 'any',
    tlsCertificateKeyFilePassword: 'any',
    tlsInsecure: ['true', 'false'],
    tlsAllowInvalidCertificates: ['true', 'false'],
    tlsAllowInvalidHostnames: ['true', 'false'],
    authSource: 'any',
    authMechanism: 'any',
    authMechanismProperties: 'any',
    directConnection: ['true', 'false'],
    loadBalanced: ['true', 'false'],
    compressors: 'any',
    zlibCompressionLevel: 'any',
    maxPoolSize: 'any',
    minPoolSize: 'any',
    maxConnecting: 'any',
    maxIdleTimeMS: 'any',
    waitQueueTimeoutMS: 'any',
    localThresholdMS: 'any',
    serverMonitoringMode: 'any',
    srvServiceName: 'any',
    srvMaxHosts: 'any',
    proxyHost: 'any',
    proxyPort: 'any',
    proxyUsername: 'any',
    proxyPassword: 'any',
    w: ['majority'],
    journal: ['true'],
    j: ['true'],
    readConcernLevel: ['majority'],
    readPreference: ['primary'],
    retryWrites: ['true'],
    retryReads: ['true'],
  },
  refuses: {
    w: MAJORITY,
    journal: MAJORITY,
    j: MAJORITY,
    fsync: MAJORITY,
    readConcernLevel: MAJORITY,
    readPreference: 'everything is read from the primary',
    readPreferenceTags: 'everything is read from the primary',
    maxStalenessSeconds: 'everything is read from the primary',
    retryWrites: 'a write whose connection is lost is tried once more',
    retryReads: 'a read whose connection is lost is tried once more',
    wtimeout: OWN_DEADLINES,
    wtimeoutMS: OWN_DEADLINES,
    timeoutMS: OWN_DEADLINES,
    connectTimeoutMS: OWN_DEADLINES,
    socketTimeoutMS: OWN_DEADLINES,
    serverSelectionTimeoutMS: OWN_DEADLINES,
    heartbeatFrequencyMS: OWN_DEADLINES,
    appName: 'it is adamant',
  },
  key: (name) => name.toLowerCase(),
}

/**
 * What is wrong with the parameters of an address, each fault as the end of a sentence that begins with the setting's
 * name. The clients pass over what they don't know or don't do, one of them with a line that holds the whole address; an
 * address can also take back what the service promises.
 * Neither a user nor a password is repeated, nor what may be a part of one.
 */
export const eventStoreFaults = (address: string): string[] =>
  address.startsWith('esdb') ? faultsOf(address, EVENTSTOREDB) : []

/** The same for READ_MODEL. */
export const readModelFaults = (address: string): string[] =>
  address.startsWith('mongodb') ? faultsOf(address, MONGODB) : []

function faultsOf(address: string, engine: Engine): string[] {
  const start = address.indexOf('?')
  if (start < 0) return []
  const parameters = address.slice(start + 1)
  // A password with a question mark in it: what follows is no parameter, and not to be told.
  if (parameters.includes('@')) return ['has an @ behind its ?: write ? in a user or password as %3F, @ as %40']
  return parameters.split('&').flatMap((parameter) => faultOf(parameter, engine) ?? [])
}

function faultOf(parameter: string, { takes, refuses, key }: Engine): string | undefined {
  const { name, value } = /^(?<name>[\w-]+)=(?<value>[^?]+)$/.exec(parameter)?.groups ?? {}
  if (name === undefined || value === undefined) return 'has something behind its ? that is no NAME=VALUE'
  const named = (table: object) => Object.keys(table).find((known) => key(known) === key(name))
  const taken = named(takes)
  const values = taken === undefined ? [] : takes[taken]
  if (values === 'any' || values?.includes(value.toLowerCase()) === true) return undefined
  const refused = named(refuses)
  const alternative = values?.length ? `; ${values.map((right) => `${name}=${right}`).join(' or ')} is` : ''
  if (taken !== undefined)
    return `has ${name}, of which that value is not taken${alternative}${because(refused, refuses)}`
  if (refused !== undefined) return `has ${name}, which is not taken${because(refused, refuses)}`
  const near = nearest(name, Object.keys(takes))
  return `has ${name.slice(0, 40)}, which is no parameter of it${near === undefined ? '' : `: is ${near} meant?`}`
}

const because = (name: string | undefined, reasons: Engine['refuses']) =>
  name === undefined || reasons[name] === undefined ? '' : `: ${reasons[name]}`

/** Of a store's address, what logs and people may see: no user, no password, no options. */
export const withoutCredentials = (address: string) => address.replace(/\/\/[^/]*@/, '//').replace(/\?.*$/, '')
