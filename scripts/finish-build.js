// What tsc leaves out: the executable bit of the command, so that `npx adamant` runs right after `npm ci`.
import { chmodSync } from 'node:fs'

chmodSync(new URL('../dist/main.js', import.meta.url), 0o755)
