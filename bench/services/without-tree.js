/** Loaded before the service: its tree of the log stays empty, and so nothing is signed. */
import { READ_MODELS } from '../../dist/wiring/followers.js'

const at = READ_MODELS.findIndex(({ declaration }) => declaration.name === 'tree')
if (at < 0) throw new Error('there is no tree to be left out')
READ_MODELS[at] = { ...READ_MODELS[at], streamPrefixes: ['none-'] }
