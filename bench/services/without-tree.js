/** Preloaded into the service: the Merkle tree stays empty, and nothing is signed. */
import { READ_MODELS } from '../../dist/wiring/followers.js'

const at = READ_MODELS.findIndex(({ declaration }) => declaration.name === 'tree')
if (at < 0) throw new Error('there is no read model "tree"')
READ_MODELS[at] = { ...READ_MODELS[at], streamPrefixes: ['none-'] }
