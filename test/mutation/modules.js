/** Has the tests import the `uvu` of this folder; its assertions stay. */
import { registerHooks } from 'node:module'

const collecting = new URL('./uvu.js', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'uvu' ? { url: collecting, shortCircuit: true } : next(specifier, context),
})
