/** Preloaded into the service: the Merkle tree stays empty, and nothing is signed. */
import { READ_MODELS } from '../../dist/wiring/consumers.js'

const index = READ_MODELS.findIndex(({ declaration }) => declaration.name === 'tree')
if (index < 0) throw new Error('there is no read model "tree"')
READ_MODELS[index] = { ...READ_MODELS[index], streamPrefixes: ['none-'] }
