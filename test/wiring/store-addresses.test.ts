import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { BadSettings, readSettings } from '../../src/wiring/settings.ts'

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
const ESDB = 'esdb://ann:hunter2@host:2113'
const MONGO = 'mongodb://ann:hunter2@host/adamant'

function faultOf(settings: Readonly<Record<string, string>>): string {
  try {
    readSettings({ MASTER_KEY, ...settings })
  } catch (error) {
    if (error instanceof BadSettings) return error.message
    throw error
  }
  return 'no fault'
}

const test = suite('the parameters of a connection string')

for (const parameters of [
  'tls=true&tlsCaFile=/etc/ca.pem',
  'TLS=false',
  'tls_ca_file=ca.pem',
  'nodePreference=leader&keepAliveInterval=10000&keepAliveTimeout=-1&connectionName=adamant',
  'userCertFile=a.pem&userKeyFile=b.pem',
]) {
  test(`can be ${parameters} for EventStoreDB`, () => {
    assert.is(faultOf({ EVENT_STORE: `${ESDB}?${parameters}` }), 'no fault')
  })
}

for (const parameters of [
  'replicaSet=rs0&tls=true&tlsCAFile=/etc/ca.pem&authSource=admin',
  'retryWrites=true&w=majority&readConcernLevel=majority&journal=true&readPreference=primary',
  'directConnection=true&maxPoolSize=50&compressors=zlib',
]) {
  test(`can be ${parameters} for MongoDB`, () => {
    assert.is(faultOf({ READ_MODEL: `${MONGO}?${parameters}` }), 'no fault')
  })
}

const refused: [setting: string, parameters: string, says: RegExp][] = [
  ['EVENT_STORE', 'tlsVerifyCert=false', /tlsVerifyCert, which is not supported: .*tlsCaFile=FILE/],
  ['EVENT_STORE', 'tls=false&TLSVERIFYCERT=true', /TLSVERIFYCERT, which is not supported/],
  [
    'EVENT_STORE',
    'nodePreference=follower',
    /nodePreference with an unsupported value; use nodePreference=leader: all reads and writes use the leader/,
  ],
  ['EVENT_STORE', 'gossipTimeout=1', /gossipTimeout, which is not supported/],
  ['EVENT_STORE', 'defaultDeadline=1000', /defaultDeadline, which is not supported/],
  ['READ_MODEL', 'tlsInsecure=true', /tlsInsecure .*certificates are always verified.*tlsCAFile=FILE/],
  ['READ_MODEL', 'tlsAllowInvalidCertificates=true', /certificates are always verified/],
  ['READ_MODEL', 'tlsAllowInvalidHostnames=true', /certificates are always verified/],
  ['EVENT_STORE', 'tls=no', /tls with an unsupported value; use tls=true or tls=false/],
  ['EVENT_STORE', 'tlsCertFile=a', /tlsCertFile, which is not a known parameter: did you mean tlsCaFile\?/],
  ['EVENT_STORE', 'colour=blue', /colour, which is not a known parameter$/],
  ['EVENT_STORE', 'tls', /a parameter that is not NAME=VALUE/],
  ['READ_MODEL', 'readConcernLevel=local', /readConcernLevel with an unsupported value; use readConcernLevel=majority/],
  ['READ_MODEL', 'journal=false', /journal with an unsupported value; use journal=true: writes must be acknowledged/],
  ['READ_MODEL', 'replicaSet=rs0&w=1', /w with an unsupported value; use w=majority/],
  ['READ_MODEL', 'readPreference=nearest', /readPreference with an unsupported value; use readPreference=primary/],
  ['READ_MODEL', 'retryWrites=false', /retryWrites with an unsupported value; use retryWrites=true/],
  ['READ_MODEL', 'socketTimeoutMS=1', /socketTimeoutMS, which is not supported: the service sets its own timeouts/],
  ['READ_MODEL', 'replicasSet=rs0', /replicasSet, which is not a known parameter: did you mean replicaSet\?/],
]
for (const [setting, parameters, message] of refused) {
  test(`are rejected by name in ${setting}: ${parameters}`, () => {
    const address = setting === 'EVENT_STORE' ? ESDB : MONGO
    const fault = faultOf({ [setting]: `${address}?${parameters}` })
    assert.match(fault, message)
    assert.match(fault, new RegExp(`^${setting} has `))
    assert.not.match(fault, /hunter2|ann/)
  })
}

for (const address of ['esdb://ann:hun?ter2&tls=false@host:2113', 'mongodb://ann:hun?w=ter2@host/adamant']) {
  test(`never appear in the message with a part of a password: ${address}`, () => {
    const fault = faultOf({ [address.startsWith('esdb') ? 'EVENT_STORE' : 'READ_MODEL']: address })
    assert.not.match(fault, /hun|ter2|no fault/)
  })
}

test.run()
