// Writes a bill of materials (CycloneDX) of the runtime packages: `npm run -s sbom > sbom.json`. npm's `--omit dev` also drops runtime
// packages that a development package depends on (https://github.com/npm/cli/issues/7909), so this script makes the whole bill and removes
// the packages that the lock file marks as development only.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runtimePackages } from './runtime-packages.js'

const root = fileURLToPath(new URL('../', import.meta.url))
function fullBill() {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  const { stdout, stderr, status } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', shell: false })
  if (status !== 0) throw new Error(`npm sbom ended with ${status}: ${stderr}`)
  return JSON.parse(stdout)
}

const runtimeRefs = new Set(runtimePackages().map(({ name, version }) => `${name}@${version}`))
const { name } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
const bill = fullBill()
const project = bill.metadata.component
const isRuntime = (ref) => ref === project['bom-ref'] || runtimeRefs.has(ref)
const components = bill.components.filter((component) => isRuntime(component['bom-ref']))
const dependencies = bill.dependencies
  .filter(({ ref }) => isRuntime(ref))
  .map((dependency) => ({ ...dependency, dependsOn: dependency.dependsOn.filter(isRuntime) }))
// npm uses the folder's name.
const metadata = { ...bill.metadata, component: { ...project, name } }
console.log(JSON.stringify({ ...bill, metadata, components, dependencies }, undefined, 2))
