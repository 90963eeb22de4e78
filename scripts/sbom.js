// Writes a bill of materials (CycloneDX) of the runtime packages: `npm run -s sbom > sbom.json`. npm's `--omit dev` also drops runtime
// packages that a development package depends on (https://github.com/npm/cli/issues/7909), so this script makes the whole bill and removes
// the packages that the lock file marks as development only.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { servedPackages } from './served-packages.js'

const root = fileURLToPath(new URL('../', import.meta.url))
function whole() {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  const { stdout, stderr, status } = spawnSync('npm', words, { cwd: root, encoding: 'utf8', shell: false })
  if (status !== 0) throw new Error(`npm sbom ended with ${status}: ${stderr}`)
  return JSON.parse(stdout)
}

const kept = new Set(servedPackages().map(({ name, version }) => `${name}@${version}`))
const { name } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
const bill = whole()
const own = bill.metadata.component
const isKept = (ref) => ref === own['bom-ref'] || kept.has(ref)
const components = bill.components.filter((component) => isKept(component['bom-ref']))
const dependencies = bill.dependencies
  .filter(({ ref }) => isKept(ref))
  .map((one) => ({ ...one, dependsOn: one.dependsOn.filter(isKept) }))
// npm uses the folder's name.
const metadata = { ...bill.metadata, component: { ...own, name } }
console.log(JSON.stringify({ ...bill, metadata, components, dependencies }, undefined, 2))
