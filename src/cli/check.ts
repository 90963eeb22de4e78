import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import { checkProof, type Checked } from '../evidence/proof.ts'
import { FAILED } from './failure.ts'
import { Failed } from '../maintenance/operation.ts'
import { printResult, type OutputOptions } from './output.ts'

type CheckOptions = OutputOptions & { readonly key: string }

/** `check`: whether a proof shows what it says. It needs no installation and no network. */
export function checkCommand(): Command {
  return new Command('check')
    .description("check a stone's proof against the key of the log that it is of; needs no installation")
    .argument('<proof>', 'the file, as `prove` and /proof give it')
    .requiredOption('--key <key>', 'the key as its owner has made it known, or @FILE that holds it')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLE)
    .action(check)
}

async function check(proof: string, { key, json }: CheckOptions): Promise<void> {
  const checked = checkProof(await text(proof), key.startsWith('@') ? await text(key.slice(1)) : key)
  printResult({ ...(json && { json }) }, checked, sentence(checked))
  if (!checked.ok) process.exitCode = FAILED
}

function sentence({ ok, diamond, events, size, why }: Checked): string {
  if (!ok) return `The proof does not hold: ${why}`
  return (
    `The proof holds: these ${events} events, from its beginning on, happened to diamond ${diamond} in this order, and stand ` +
    `in the log of ${size} events that the key has signed. It shows nothing of what happened since that was signed`
  )
}

async function text(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new Failed(`${file} can not be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const EXAMPLE = `
Examples:
  npx adamant check proof.json --key @adamant.key
  curl -s https://diamonds.example/log/key > adamant.key`
