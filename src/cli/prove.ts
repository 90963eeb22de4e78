import { Argument, Command } from 'commander'
import { readDiamond } from '../projections/diamonds/diamond-steps.ts'
import { proofOf } from '../projections/tree/stone-proof.ts'
import type { Installation } from '../wiring/installation.ts'
import { evidenceOf, TREE_PATIENCE } from './checkpoint.ts'
import { BadUsage, Failed } from '../maintenance/operation.ts'
import { withInstallation, type Open } from './installed.ts'

/** `prove`: a stone's past as one file that anybody can check. */
export function proveCommand(open: Open): Command {
  return new Command('prove')
    .description("print what shows to others that nobody has rewritten a diamond's past; of a deleted one too")
    .addArgument(new Argument('<what>').choices(['diamond']))
    .argument('<id>', 'its number')
    .option('--json', 'is how it is printed in any case')
    .addHelpText('after', EXAMPLE)
    .action((_what: string, id: string) => prove(open, id))
}

async function prove(open: Open, text: string): Promise<void> {
  const id = Number(text)
  if (!/^[1-9]\d*$/.test(text) || !Number.isSafeInteger(id)) throw new BadUsage(`${text} is no number of a diamond`)
  await withInstallation(open, async (installation) => {
    process.stdout.write(`${JSON.stringify(await proofBy(installation, id))}\n`)
  })
}

async function proofBy(installation: Installation, id: number) {
  const events = await readDiamond(installation.store, id)
  if (events.length === 0) throw new Failed(`There is no diamond ${id}`)
  const proof = await proofOf(await evidenceOf(installation), id, events, TREE_PATIENCE)
  if (proof === undefined) throw new Failed(`Nothing of diamond ${id} is signed yet: start the service`)
  return proof
}

const EXAMPLE = `
Example:
  npx adamant prove diamond 7 > diamond-7.proof.json`
