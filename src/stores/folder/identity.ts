import { randomUUID } from 'node:crypto'
import { link, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, ifThere } from './failure.ts'
import { syncFolder, type Places } from './places.ts'

/** Made once, by whichever process is first; it is written whole under another name before. */
export async function identityIn({ folder, incoming }: Places): Promise<string> {
  const file = join(folder, 'identity')
  const known = await ifThere(() => readFile(file, 'utf8'))
  if (known !== undefined) return known.trim()
  const draft = join(incoming, randomUUID())
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomUUID()}\n`)
    await handle.sync()
    await link(draft, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await handle.close()
    await ifThere(() => unlink(draft))
  }
  await syncFolder(folder)
  return (await readFile(file, 'utf8')).trim()
}
