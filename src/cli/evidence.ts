import { Argument, Command } from 'commander'
import { readFile } from 'node:fs/promises'
import { formatHash } from '../evidence/hashes.ts'
import { verifyProof, type ProofCheck } from '../evidence/proof.ts'
import { BadUsage, OperationFailure } from '../maintenance/operation.ts'
import { readDiamondEvents } from '../projections/diamonds/diamond-transitions.ts'
import { openGuardedReadModel } from '../projections/engine/guarded-read-model.ts'
import { PolledProgress } from '../projections/engine/progress.ts'
import { proveDiamond } from '../projections/tree/diamond-proof.ts'
import { merkleTree } from '../projections/tree/merkle-tree.ts'
import { openEvidence } from '../wiring/evidence.ts'
import type { Installation } from '../wiring/installation.ts'
import { EXIT_FAILURE } from './failure.ts'
import { withInstallation, type OpenInstallation } from './with-installation.ts'
import { note, printResult, type OutputOptions } from './output.ts'

/** Milliseconds that a running service has to bring the tree to the head of the log. */
const TREE_TIMEOUT_MS = 10_000

/** `checkpoint`: what to keep elsewhere, so that nobody can rewrite the log in silence. */
export function checkpointCommand(open: OpenInstallation): Command {
  return new Command('checkpoint')
    .description(
      "sign the root of the log's hash tree as it is now, to be kept where nobody of this installation writes",
    )
    .option('--json', 'print one line of JSON')
    .addHelpText('after', CHECKPOINT_EXAMPLE)
    .action((options: OutputOptions) => withInstallation(open, (installation) => print(installation, options)))
}

async function print(installation: Installation, options: OutputOptions): Promise<void> {
  const { checkpoints, signer, progress } = await openEvidenceServices(installation)
  // What is signed is an event of its own, behind this one.
  const head = await installation.store.head()
  const signed = await signer.sign(TREE_TIMEOUT_MS)
  if (!(await progress.waitForPosition(head, 0)))
    note('Nothing keeps the tree up to date, so nothing new is signed: start the service')
  if (signed === undefined) throw new OperationFailure('Nothing has been signed yet: start the service')
  const { origin, size, root, note: checkpoint } = signed
  const key = await checkpoints.verifierKey()
  printResult(options, { origin, size, root: formatHash(root), checkpoint, key }, checkpoint.trimEnd())
  if (options.json !== true) note(`The key to check it with: ${key}`)
}

/** What commands that prove something read. @throws Failed where the log has no key */
async function openEvidenceServices(installation: Installation) {
  const model = await openGuardedReadModel(installation.reads, installation.store, merkleTree.declaration)
  const progress = new PolledProgress(model)
  const { services } = await openEvidence(installation, { model, progress })
  if (services === undefined)
    throw new OperationFailure('This log has no key, and is closed: nothing of it was ever signed')
  return { ...services, progress }
}

const CHECKPOINT_EXAMPLE = `
Example:
  npx adamant checkpoint > "checkpoint-$(date +%F).txt"`

/** `prove`: a stone's past as one file that anybody can check. */
export function proveCommand(open: OpenInstallation): Command {
  return new Command('prove')
    .description("print what shows to others that nobody has rewritten a diamond's past; of a deleted one too")
    .addArgument(new Argument('<what>').choices(['diamond']))
    .argument('<id>', 'its number')
    .option('--json', 'is how it is printed in any case')
    .addHelpText('after', PROVE_EXAMPLE)
    .action((_what: string, id: string) => prove(open, id))
}

async function prove(open: OpenInstallation, text: string): Promise<void> {
  const id = Number(text)
  if (!/^[1-9]\d*$/.test(text) || !Number.isSafeInteger(id)) throw new BadUsage(`${text} is no number of a diamond`)
  await withInstallation(open, async (installation) => {
    process.stdout.write(`${JSON.stringify(await createDiamondProof(installation, id))}\n`)
  })
}

async function createDiamondProof(installation: Installation, id: number) {
  const events = await readDiamondEvents(installation.store, id)
  if (events.length === 0) throw new OperationFailure(`There is no diamond ${id}`)
  const proof = await proveDiamond(await openEvidenceServices(installation), id, events, TREE_TIMEOUT_MS)
  if (proof === undefined) throw new OperationFailure(`Nothing of diamond ${id} is signed yet: start the service`)
  return proof
}

const PROVE_EXAMPLE = `
Example:
  npx adamant prove diamond 7 > diamond-7.proof.json`

type CheckOptions = OutputOptions & { readonly key: string }

/** `check`: whether a proof shows what it says. It needs no installation and no network. */
export function checkCommand(): Command {
  return new Command('check')
    .description("check a stone's proof against the key of the log that it is of; needs no installation")
    .argument('<proof>', 'the file, as `prove` and /proof give it')
    .requiredOption('--key <key>', 'the key as its owner has made it known, or @FILE that holds it')
    .option('--json', 'print JSON')
    .addHelpText('after', CHECK_EXAMPLE)
    .action(check)
}

async function check(proof: string, { key, json }: CheckOptions): Promise<void> {
  const checked = verifyProof(await readTextFile(proof), key.startsWith('@') ? await readTextFile(key.slice(1)) : key)
  printResult({ ...(json && { json }) }, checked, formatProofCheck(checked))
  if (!checked.ok) process.exitCode = EXIT_FAILURE
}

function formatProofCheck({ ok, diamond, events, size, why }: ProofCheck): string {
  if (!ok) return `The proof does not hold: ${why}`
  return (
    `The proof holds: these ${events} events, from its beginning on, happened to diamond ${diamond} in this order, and stand ` +
    `in the log of ${size} events that the key has signed. It shows nothing of what happened since that was signed`
  )
}

async function readTextFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new OperationFailure(`${file} can not be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const CHECK_EXAMPLE = `
Examples:
  npx adamant check proof.json --key @adamant.key
  curl -s https://diamonds.example/log/key > adamant.key`
