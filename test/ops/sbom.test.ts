import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { run } from '../docs/blocks.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const test = suite('the bill of materials')

type Bill = {
  readonly bomFormat: string
  readonly metadata: { readonly component: { readonly name: string; readonly 'bom-ref': string } }
  readonly components: readonly { readonly 'bom-ref': string; readonly licenses?: readonly unknown[] }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}
type Entry = { readonly version: string; readonly dev?: boolean; readonly devOptional?: boolean }

test('names each package that is served with, none that is not, and what each needs', async () => {
  const { out, code } = await run('node', ['scripts/sbom.js'], { cwd: root, env: {} })
  assert.is(code, 0)
  const bill = JSON.parse(out) as Bill
  assert.is(bill.bomFormat, 'CycloneDX')
  assert.is(bill.metadata.component.name, 'adamant')
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as {
    packages: Readonly<Record<string, Entry>>
  }
  const wanted = Object.entries(packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`)
  const refs = bill.components.map((component) => component['bom-ref'])
  assert.equal(refs.toSorted(), [...new Set(wanted)].toSorted())
  const known = new Set([...refs, bill.metadata.component['bom-ref']])
  for (const { ref, dependsOn } of bill.dependencies) {
    for (const one of [ref, ...dependsOn]) assert.ok(known.has(one), one)
  }
})

test.run()
