import { Command } from 'commander'
import { hashText } from '../evidence/hashes.ts'
import { FollowedProgress } from '../projections/engine/progress.ts'
import { openReadModel } from '../projections/engine/open-read-model.ts'
import { tree } from '../projections/tree/tree.ts'
import { openEvidence } from '../wiring/evidence.ts'
import type { Installation } from '../wiring/installation.ts'
import { Failed } from '../maintenance/operation.ts'
import { withInstallation, type Open } from './installed.ts'
import { note, printResult, type OutputOptions } from './output.ts'

/** Milliseconds that a running service has to bring the tree to the head of the log. */
export const TREE_PATIENCE = 10_000

/** `checkpoint`: what to keep elsewhere, so that nobody can rewrite the log in silence. */
export function checkpointCommand(open: Open): Command {
  return new Command('checkpoint')
    .description(
      "sign the root of the log's hash tree as it is now, to be kept where nobody of this installation writes",
    )
    .option('--json', 'print one line of JSON')
    .addHelpText('after', EXAMPLE)
    .action((options: OutputOptions) => withInstallation(open, (installation) => print(installation, options)))
}

async function print(installation: Installation, options: OutputOptions): Promise<void> {
  const { checkpoints, signer, progress } = await evidenceOf(installation)
  // What is signed is an event of its own, behind this one.
  const head = await installation.store.head()
  const signed = await signer.sign(TREE_PATIENCE)
  if (!(await progress.reached(head, 0)))
    note('Nothing keeps the tree up to date, so nothing new is signed: start the service')
  if (signed === undefined) throw new Failed('Nothing has been signed yet: start the service')
  const { origin, size, root, note: checkpoint } = signed
  const key = await checkpoints.keyText()
  printResult(options, { origin, size, root: hashText(root), checkpoint, key }, checkpoint.trimEnd())
  if (options.json !== true) note(`The key to check it with: ${key}`)
}

/** Likewise for each command that proves something. @throws Failed where the log has no key */
export async function evidenceOf(installation: Installation) {
  const model = await openReadModel(installation.reads, installation.store, tree.declaration)
  const progress = new FollowedProgress(model)
  const { services } = await openEvidence(installation, { model, progress })
  if (services === undefined) throw new Failed('This log has no key, and is closed: nothing of it was ever signed')
  return { ...services, progress }
}

const EXAMPLE = `
Example:
  npx adamant checkpoint > "checkpoint-$(date +%F).txt"`
