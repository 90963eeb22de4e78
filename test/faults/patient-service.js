/**
 * The built service with four times the timeouts for EventStoreDB and MongoDB, for tests on a busy machine.
 *
 * This is JavaScript because it imports the built files and runs without a TypeScript loader.
 */
import { run } from '../../dist/cli/program.js'
import { openInstallation } from '../../dist/wiring/open-installation.js'

const TIMEOUT_FACTOR = 4

void run(process.argv.slice(2), (settings, purpose) => openInstallation(settings, purpose, TIMEOUT_FACTOR))
