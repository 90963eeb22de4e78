import { scryptSync } from 'node:crypto'
import { constants, getPriority } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PassphraseKdf, type PassphraseRequest } from '../../src/credentials/passphrase-kdf.ts'
import { niceOfThreadsAddedBy } from '../threads.ts'

// Runs alone: it counts the threads of its process.

const test = suite('stretching passphrases')

const salt = Buffer.alloc(16, 7)
const cost = { N: 16, r: 1, p: 1 }

async function stretched(passphrase: string): Promise<Buffer> {
  const passphrases = new PassphraseKdf()
  try {
    return await passphrases.acquireSlot({ purpose: 'read' }).deriveKey(passphrase, salt, cost)
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
  const passphrases = new PassphraseKdf()
  const added = await niceOfThreadsAddedBy(() =>
    passphrases.acquireSlot({ purpose: 'read' }).deriveKey('sesame', salt, cost),
  )
  await passphrases.close()
  assert.is(added.filter((nice) => nice === constants.priority.PRIORITY_BELOW_NORMAL).length, 1)
  assert.is(getPriority(), 0)
})

const reads = (account: number, address: string): PassphraseRequest => ({ purpose: 'read', account, address })
const shares = (account: number, address: string): PassphraseRequest => ({ purpose: 'share', account, address })

test('has places for others when one account, at any number of addresses, or one address has taken all it gets', () => {
  for (const crowd of [
    (nth: number) => shares(1, `192.0.2.${nth}`),
    (nth: number) => reads(nth, '192.0.2.1'),
    (nth: number) => shares(nth, `2001:db8::${nth}`),
  ]) {
    const passphrases = new PassphraseKdf()
    assert.throws(() => {
      for (let nth = 0; nth < 40; nth++) passphrases.acquireSlot(crowd(nth))
    }, /Too many passphrases/)
    for (let nth = 0; nth < 5; nth++) passphrases.acquireSlot(reads(99, '198.51.100.7'))
  }
})

test('goes on with who reads before who shares, and with who has the fewest before who has many', async () => {
  const passphrases = new PassphraseKdf()
  const done: string[] = []
  const stretch = async (name: string, asker: PassphraseRequest) => {
    await passphrases.acquireSlot(asker).deriveKey('sesame', salt, cost)
    done.push(name)
  }
  const crowd = Array.from({ length: 10 }, () => stretch('crowd', shares(1, '192.0.2.1')))
  await Promise.all([...crowd, stretch('share', shares(2, '192.0.2.2')), stretch('read', reads(3, '192.0.2.3'))])
  await passphrases.close()
  assert.equal(done.slice(0, 3), ['crowd', 'read', 'share'])
})

test.run()
