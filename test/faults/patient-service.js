/**
 * The service that users run, whose servers may take four times as long to answer: beside other work on the machine they do.
 *
 * JavaScript, since it runs what was built, without a loader.
 */
import { run } from '../../dist/cli/program.js'
import { backups } from '../../dist/wiring/backups.js'
import { open } from '../../dist/wiring/open-installation.js'

const SLOWER = 4

void run(process.argv.slice(2), (settings, purpose) => open(settings, purpose, SLOWER), backups)
