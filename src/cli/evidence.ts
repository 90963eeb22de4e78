import { Argument, Command } from 'commander'
import { readFile } from 'node:fs/promises'
import { parseId } from '../domain/entity-id.ts'
import { formatHash } from '../evidence/hashes.ts'
import { parseVerifierKey } from '../evidence/note.ts'
import {
  compareCheckpoints,
  UnusableConsistencyProof,
  verifyProof,
  type KeptCheckpoint,
  type ProofCheck,
} from '../evidence/proof.ts'
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
import { formatQuantity, note, printResult, type OutputOptions } from './output.ts'

/** How long a running service may take to bring the Merkle tree to the head of the log. */
const TREE_TIMEOUT_MS = 10_000

/** `checkpoint`: a signed tree head. Kept elsewhere, it proves later that the log before it was not rewritten. */
export function checkpointCommand(open: OpenInstallation): Command {
  return new Command('checkpoint')
    .description("Print a signed checkpoint of the log's Merkle tree, to keep outside of this installation")
    .addHelpText('after', CHECKPOINT_EXAMPLE)
    .action((options: OutputOptions) => withInstallation(open, (installation) => print(installation, options)))
}

async function print(installation: Installation, options: OutputOptions): Promise<void> {
  const { checkpoints, signer, progress } = await openEvidenceServices(installation)
  // Signing appends an event, so the head must be read before.
  const head = await installation.store.head()
  const signed = await signer.sign(TREE_TIMEOUT_MS)
  if (!(await progress.waitForPosition(head, 0)))
    note('No newer checkpoint was signed, since no running service maintains the Merkle tree: start the service')
  if (signed === undefined) throw new OperationFailure('No checkpoint has been signed yet: start the service')
  const { origin, size, root, note: checkpoint } = signed
  const key = await checkpoints.verifierKey()
  printResult(options, { origin, size, root: formatHash(root), checkpoint, key }, checkpoint.trimEnd())
  if (options.json !== true) note(`Verify it with the key ${key}`)
}

/** @throws OperationFailure if the log has no signing key and is closed, so that none can be created */
async function openEvidenceServices(installation: Installation) {
  const model = await openGuardedReadModel(installation.reads, installation.store, merkleTree.declaration)
  const progress = new PolledProgress(model)
  const { services } = await openEvidence(installation, { model, progress })
  if (services === undefined)
    throw new OperationFailure('This log is read-only and has no signing key: it has no signed checkpoints')
  return { ...services, progress }
}

const CHECKPOINT_EXAMPLE = `
Example:
  adamant checkpoint > "checkpoint-$(date +%F).txt"`

/** `prove`: a file that proves the history of a diamond to others. */
export function proveCommand(open: OpenInstallation): Command {
  return new Command('prove')
    .description("Print a proof of a diamond's history: its events, their inclusion proofs and a signed checkpoint")
    .addArgument(new Argument('<what>', 'Kind of entity').choices(['diamond']))
    .argument('<id>', 'Diamond id; deleted diamonds too')
    .option('--json', 'No effect: the proof is always JSON')
    .addHelpText('after', PROVE_EXAMPLE)
    .action((_entity: string, id: string) => prove(open, id))
}

async function prove(open: OpenInstallation, text: string): Promise<void> {
  const id = parseId(text)
  if (id === undefined) throw new BadUsage(`id: must be a positive integer, got ${text}`)
  await withInstallation(open, async (installation) => {
    process.stdout.write(`${JSON.stringify(await createDiamondProof(installation, id))}\n`)
  })
}

async function createDiamondProof(installation: Installation, id: number) {
  const events = await readDiamondEvents(installation.store, id)
  if (events.length === 0) throw new OperationFailure(`There is no diamond ${id}`)
  const proof = await proveDiamond(await openEvidenceServices(installation), id, events, TREE_TIMEOUT_MS)
  if (proof === undefined)
    throw new OperationFailure(`No signed checkpoint covers diamond ${id} yet: start the service`)
  return proof
}

const PROVE_EXAMPLE = `
Example:
  adamant prove diamond 7 > diamond-7.proof.json`

const KEY_OPTION = '--key <key>'
const KEY_HELP = 'Public key of the log as its owner published it, or @FILE to read it from a file'

type CheckOptions = OutputOptions & { readonly key: string }

/** `check`: verifies a proof. It needs no installation and no network. */
export function checkCommand(): Command {
  return new Command('check')
    .description("Verify a proof of a diamond's history against a log's public key, offline")
    .argument('<proof>', 'Proof file, from `prove` or the API (/proof)')
    .requiredOption(KEY_OPTION, KEY_HELP)
    .addHelpText('after', CHECK_EXAMPLE)
    .action(check)
}

async function check(proof: string, { key, json }: CheckOptions): Promise<void> {
  const proofCheck = verifyProof(await readTextFile(proof), await readKey(key))
  printResult({ ...(json && { json }) }, proofCheck, formatProofCheck(proofCheck))
  if (!proofCheck.ok) process.exitCode = EXIT_FAILURE
}

function formatProofCheck({ ok, diamond, events, size, why }: ProofCheck): string {
  if (!ok) return `Invalid proof: ${why}`
  return (
    `Valid proof: it contains ${formatQuantity(events, 'event')} of diamond ${diamond}, complete and in order from the first one, all included ` +
    `in the log that the key signed at a size of ${formatQuantity(size ?? 0, 'event')}. It does not cover events after that checkpoint`
  )
}

/** @throws BadUsage if it is no key: that says nothing about what it would verify */
async function readKey(option: string): Promise<string> {
  const isFile = option.startsWith('@')
  const key = isFile ? await readTextFile(option.slice(1)) : option
  try {
    parseVerifierKey(key)
  } catch (error) {
    const hint = isFile
      ? ''
      : `; to read the key from the file ${option.slice(0, 100)}, write --key @${option.slice(0, 100)}`
    throw new BadUsage(`--key: ${error instanceof Error ? error.message : String(error)}${hint}`)
  }
  return key
}

/** `compare`: whether one kept checkpoint extends another. It needs no installation and no network. */
export function compareCommand(): Command {
  return new Command('compare')
    .description(
      'Verify that of two kept checkpoints the newer extends the older: that nothing was rewritten between them',
    )
    .argument('<checkpoint>', 'File with a signed checkpoint, from `checkpoint` or the API (/log/checkpoint)')
    .argument('<other>', 'File with another one, older or newer')
    .requiredOption(KEY_OPTION, KEY_HELP)
    .option('--proof <file>', 'Consistency proof, from the API (/log/consistency); not needed for equal sizes')
    .addHelpText('after', COMPARE_EXAMPLE)
    .action(compare)
}

type CompareOptions = CheckOptions & { readonly proof?: string }

async function compare(one: string, other: string, { key, proof, json }: CompareOptions): Promise<void> {
  const checkpoints = [await readCheckpoint(one), await readCheckpoint(other)] as const
  const consistencyProof = proof === undefined ? undefined : await readTextFile(proof)
  const verifierKey = await readKey(key)
  const comparison = orBadUsage(() => compareCheckpoints(checkpoints, consistencyProof, verifierKey))
  const { ok, from, to, why } = comparison
  const text = ok
    ? `Consistent: the log of ${formatQuantity(from ?? 0, 'event')} is the beginning of the log of ${formatQuantity(to ?? 0, 'event')}: none of its events was changed, removed or moved, and none was inserted`
    : `Not consistent: ${why}`
  printResult({ ...(json && { json }) }, comparison, text)
  if (!ok) process.exitCode = EXIT_FAILURE
}

/** @throws BadUsage that says how to get the right consistency proof */
function orBadUsage<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof UnusableConsistencyProof)) throw error
    const { from, to } = error.sizes
    throw new BadUsage(
      `--proof: ${error.message}. Download it with ` +
        `curl -sf 'ADDRESS/log/consistency?from=${from}&to=${to}' > consistency.json, and add --proof consistency.json`,
    )
  }
}

/** Mail programs and editors may have changed the line ends, which are not part of what was signed. */
async function readCheckpoint(file: string): Promise<KeptCheckpoint> {
  const text = await readTextFile(file)
  return { name: file, note: `${text.replaceAll('\r\n', '\n').trimEnd()}\n` }
}

const COMPARE_EXAMPLE = `
Example:
  adamant compare checkpoint-2026-11-01.txt checkpoint-2026-11-30.txt --key @adamant.key --proof consistency.json`

async function readTextFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new OperationFailure(`${file}: cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const CHECK_EXAMPLE = `
Examples:
  adamant check proof.json --key @adamant.key
  curl -s https://diamonds.example/log/key > adamant.key`
