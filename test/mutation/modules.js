/** Makes the tests import this folder's `uvu.js` instead of `uvu`; `uvu/assert` stays. */
import { registerHooks } from 'node:module'

const collecting = new URL('./uvu.js', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'uvu' ? { url: collecting, shortCircuit: true } : next(specifier, context),
})
