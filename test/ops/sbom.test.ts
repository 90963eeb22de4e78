import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { run } from '../docs/blocks.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const test = suite('the software bill of materials')

type Bill = {
  readonly bomFormat: string
  readonly metadata: { readonly component: { readonly name: string; readonly 'bom-ref': string } }
  readonly components: readonly { readonly 'bom-ref': string; readonly licenses?: readonly unknown[] }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}
type Dependencies = Readonly<Record<string, string>>
type Entry = {
  readonly version: string
  readonly dependencies?: Dependencies
  readonly optionalDependencies?: Dependencies
}
type Packages = Readonly<Record<string, Entry>>

/** Resolves a package name as Node does: from the importing package's folder upwards. */
function resolvePackage(packages: Packages, from: string, name: string): string | undefined {
  const own = `${from === '' ? '' : `${from}/`}node_modules/${name}`
  if (own in packages) return own
  if (from === '') return undefined
  return resolvePackage(packages, from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name)
}

/** All direct and transitive production dependencies. */
function productionPackages(packages: Packages): Set<string> {
  const reached = new Set([''])
  for (const path of reached) {
    const { dependencies = {}, optionalDependencies = {} } = packages[path] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const at = resolvePackage(packages, path, name)
      if (at !== undefined) reached.add(at)
    }
  }
  reached.delete('')
  return reached
}

test('lists exactly the production dependencies, and the dependencies of each', async () => {
  const { out, code } = await run('node', ['scripts/sbom.js'], { cwd: root, env: {} })
  assert.is(code, 0)
  const bill = JSON.parse(out) as Bill
  assert.is(bill.bomFormat, 'CycloneDX')
  assert.is(bill.metadata.component.name, 'adamant')
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as { packages: Packages }
  const expected = [...productionPackages(packages)].map(
    (path) => `${path.split('node_modules/').at(-1)}@${packages[path]?.version}`,
  )
  const refs = bill.components.map((component) => component['bom-ref'])
  assert.equal(refs.toSorted(), [...new Set(expected)].toSorted())
  const known = new Set([...refs, bill.metadata.component['bom-ref']])
  for (const { ref, dependsOn } of bill.dependencies) {
    for (const one of [ref, ...dependsOn]) assert.ok(known.has(one), one)
  }
})

test.run()
