import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { swallowedErrors } from './swallowed-errors.ts'

const src = fileURLToPath(new URL('../../src', import.meta.url))
const modules = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

const test = suite('a caught error')

test('is used, rethrown or explained by a comment in every module', () => {
  assert.ok(modules.length > 100, `only ${modules.length} modules were found`)
  const silent = modules.flatMap((name) => swallowedErrors(name, readFileSync(join(src, name), 'utf8')))
  assert.equal(
    silent.map(({ path, line, text }) => `src/${path}:${line} swallows an error: ${text}`),
    [],
  )
})

const silent: readonly (readonly [name: string, source: string])[] = [
  ['an empty catch block', 'try {\n  a()\n} catch {}'],
  ['a catch block that does something else', 'try {\n  a()\n} catch {\n  b()\n}'],
  ['a catch block that ignores its error', 'try {\n  a()\n} catch (error) {\n  b()\n}\nlog(error)'],
  ['a rejection turned into undefined', 'await a().catch(() => undefined)'],
  ['a rejection with an empty handler', 'a().catch(() => {})'],
  ['a rejection turned into a value', 'const a = await b().catch(() => false)'],
  ['a rejection whose error is not used', 'a().catch((error: unknown) => {\n  b()\n})\nlog(error)'],
  ['a second handler', 'a().then(b, () => undefined)'],
  ['a listener', "a.on('error', () => undefined)"],
  ['unread outcomes', 'await Promise.allSettled([a(), b()])'],
]

for (const [name, source] of silent) {
  test(`is reported as swallowed in ${name}`, () => {
    assert.is(swallowedErrors('a.ts', source).length, 1)
    assert.is(swallowedErrors('a.ts', `// Why.\n\n${source}`).length, 1, 'a comment further up is not an explanation')
  })
}

const allowed: readonly (readonly [name: string, source: string])[] = [
  ['a catch block that throws', 'try {\n  a()\n} catch {\n  throw new B()\n}'],
  ['a catch block that returns', 'try {\n  a()\n} catch {\n  return undefined\n}'],
  ['a catch block that logs', 'try {\n  a()\n} catch (error) {\n  log.warn({ err: error })\n}'],
  ['a catch block with a reason', 'try {\n  a()\n} catch {\n  // Nobody waits for it.\n}'],
  ['a handler with a reason on its line', 'a().catch(() => undefined) // Nobody waits for it.'],
  ['a handler with a reason above', '// Nobody waits for it.\na().catch(() => undefined)'],
  ['a handler that uses the error', 'a().catch((error: unknown) => {\n  faults.push(error)\n})'],
  ['a handler with a name', 'a().catch(failed)'],
  ['a listener that ends the connection', "a.on('error', () => a.destroy())"],
  ['outcomes that are read', 'const outcomes = await Promise.allSettled([a(), b()])'],
]

for (const [name, source] of allowed) {
  test(`is accepted in ${name}`, () => {
    assert.equal(swallowedErrors('a.ts', source), [])
  })
}

test.run()
