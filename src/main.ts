#!/usr/bin/env node
import { unsupportedNodeMessage } from './runtime/version.ts'

/*
 * The version of Node.js is checked before anything else is imported: an older version crashes while loading the rest.
 * This file and its static imports therefore must run on Node.js 12: no `await`, no `??`.
 */
const versionError = unsupportedNodeMessage(process.versions.node, process.execPath)
if (versionError === undefined) {
  void Promise.all([import('./cli/program.ts'), import('./wiring/open-installation.ts')]).then(
    ([{ run }, { openInstallation }]) => run(process.argv.slice(2), openInstallation),
  )
} else {
  console.error(versionError)
  process.exitCode = 2
}
