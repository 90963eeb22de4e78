import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { carryPersons, strangersIn, type Peopled } from '../../commands/accounts/carry-persons.ts'
import type { PersonRow, Persons } from '../../stores/ports/persons.ts'
import { Failed } from '../operation.ts'
import { digestOfFile, type Digested } from './digests.ts'
import { PERSONS_FILE } from './manifest.ts'

const line = z.object({ account: z.int().min(1), sealed: z.base64(), at: z.int() })

/** As they are at this moment: who is forgotten is in no backup that is made afterwards. */
export async function writePersons(folder: string, persons: Persons, sync: (path: string) => void): Promise<Digested> {
  const lines: string[] = []
  for await (const { account, sealed, at } of persons.all()) {
    lines.push(`${JSON.stringify({ account, sealed: sealed.toString('base64'), at })}\n`)
  }
  const file = join(folder, PERSONS_FILE)
  writeFileSync(file, lines.join(''), { mode: 0o600 })
  sync(file)
  return digestOfFile(file)
}

/** @throws Failed where a line is none */
function* rowsIn(file: string): Generator<PersonRow> {
  for (const text of readFileSync(file, 'utf8').split('\n')) {
    if (text === '') continue
    const { data } = line.safeParse(JSON.parse(text))
    if (data === undefined) throw new Failed(`${file} is of a newer release: it can not be read as a backup's persons`)
    yield { ...data, sealed: Buffer.from(data.sealed, 'base64') }
  }
}

/**
 * Puts back whom the restored log knows. That changes nothing for a log that is still to be replaced.
 * @param folder of the backup; undefined where it has no persons
 * @returns whom the restored log does not know, or has forgotten: to be deleted when it is in its place
 */
export async function restorePersons(folder: string | undefined, target: Peopled): Promise<readonly number[]> {
  if (folder !== undefined) await carryPersons(rowsIn(join(folder, PERSONS_FILE)), target)
  return strangersIn(target)
}
