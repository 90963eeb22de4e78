import { TIMEOUTS_SET_BY_SERVICE, type ConnectionStringParameters } from '../ports/connection-string.ts'

const MAJORITY =
  'writes must be acknowledged by a majority with their journals, and reads must return acknowledged data'

const VERIFIED = 'certificates are always verified: set the certificate authority with tlsCAFile=FILE'

/** https://www.mongodb.com/docs/manual/reference/connection-string-options/ */
export const CONNECTION_STRING_PARAMETERS: ConnectionStringParameters = {
  allowed: {
    replicaSet: 'any',
    tls: ['true', 'false'],
    ssl: ['true', 'false'],
    tlsCAFile: 'any',
    tlsCRLFile: 'any',
    tlsCertificateKeyFile: 'any',
    tlsCertificateKeyFilePassword: 'any',
    tlsInsecure: ['false'],
    tlsAllowInvalidCertificates: ['false'],
    tlsAllowInvalidHostnames: ['false'],
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
  rejected: {
    tlsInsecure: VERIFIED,
    tlsAllowInvalidCertificates: VERIFIED,
    tlsAllowInvalidHostnames: VERIFIED,
    w: MAJORITY,
    journal: MAJORITY,
    j: MAJORITY,
    fsync: MAJORITY,
    readConcernLevel: MAJORITY,
    readPreference: 'all reads use the primary',
    readPreferenceTags: 'all reads use the primary',
    maxStalenessSeconds: 'all reads use the primary',
    retryWrites: 'a write whose connection is lost must be retried once',
    retryReads: 'a read whose connection is lost must be retried once',
    wtimeout: TIMEOUTS_SET_BY_SERVICE,
    wtimeoutMS: TIMEOUTS_SET_BY_SERVICE,
    timeoutMS: TIMEOUTS_SET_BY_SERVICE,
    connectTimeoutMS: TIMEOUTS_SET_BY_SERVICE,
    socketTimeoutMS: TIMEOUTS_SET_BY_SERVICE,
    serverSelectionTimeoutMS: TIMEOUTS_SET_BY_SERVICE,
    heartbeatFrequencyMS: TIMEOUTS_SET_BY_SERVICE,
    appName: 'it is always adamant',
  },
  normalizeName: (name) => name.toLowerCase(),
}

/** One or more hosts, and a database: https://www.mongodb.com/docs/manual/reference/connection-string/ */
export const CONNECTION_STRING_PATTERN = /^mongodb(\+srv)?:\/\/[^/?#\s]+\/[^/?#\s.$]+(\?\S*)?$/
