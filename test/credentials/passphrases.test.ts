import { scryptSync } from 'node:crypto'
import { constants, getPriority } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Passphrases } from '../../src/credentials/passphrases.ts'
import { niceOfThreadsAddedBy } from '../threads.ts'

const test = suite('stretching passphrases')

const salt = Buffer.alloc(16, 7)
const cost = { N: 16, r: 1, p: 1 }

async function stretched(passphrase: string): Promise<Buffer> {
  const passphrases = new Passphrases()
  try {
    return await passphrases.enter().stretch(passphrase, salt, cost)
  } finally {
    await passphrases.close()
  }
}

test('is scrypt, https://www.rfc-editor.org/rfc/rfc7914, of what the passphrase looks like', async () => {
  const expected = scryptSync('Ünder', salt, 32, cost)
  assert.equal(await stretched('\u00dcnder'), expected)
  assert.equal(await stretched('U\u0308nder'), expected)
})

test('happens on a thread that gives way, and the service itself runs as ever', async () => {
  if (process.platform !== 'linux') return console.log('LEFT OUT: threads have priorities of their own on Linux only')
  const passphrases = new Passphrases()
  const added = await niceOfThreadsAddedBy(() => passphrases.enter().stretch('sesame', salt, cost))
  await passphrases.close()
  assert.is(added.filter((nice) => nice === constants.priority.PRIORITY_BELOW_NORMAL).length, 1)
  assert.is(getPriority(), 0)
})

test.run()
