/**
 * The built service with timeouts for EventStoreDB and MongoDB that are four times as long as in production, for tests on a
 * machine that is busy with other work.
 *
 * JavaScript, because it imports the built files and runs without a loader for TypeScript.
 */
import { run } from '../../dist/cli/program.js'
import { openInstallation } from '../../dist/wiring/open-installation.js'

const SLOWER = 4

void run(process.argv.slice(2), (settings, purpose) => openInstallation(settings, purpose, SLOWER))
