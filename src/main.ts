#!/usr/bin/env node
import { unsupportedNodeMessage } from './runtime/version.ts'

/*
 * Nothing else is imported before the Node is known to be new enough, since an older one crashes while it loads the
 * rest. For the same reason this file and what it imports keep to what Node 12 can read: no await, no `??`.
 */
const refusal = unsupportedNodeMessage(process.versions.node, process.execPath)
if (refusal === undefined) {
  void Promise.all([import('./cli/program.ts'), import('./wiring/open-installation.ts')]).then(
    ([{ run }, { openInstallation }]) => run(process.argv.slice(2), openInstallation),
  )
} else {
  console.error(refusal)
  process.exitCode = 2
}
