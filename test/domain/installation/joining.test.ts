import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isSameInstallation, hasLostVault } from '../../../src/domain/installation/installation.ts'

const test = suite('a vault and a file store')

const known = { vault: 'v1', files: 'f1', place: 'here' }

for (const [name, found, belongs, lostVault] of [
  ['of the same installation belong to the log, wherever they are', { ...known, place: 'elsewhere' }, true, false],
  ['with another vault do not belong to the log, and its vault is lost', { ...known, vault: 'v2' }, false, true],
  ['with another file store do not belong to the log, and no vault is lost', { ...known, files: 'f2' }, false, false],
  [
    'of another installation do not belong to the log, and no vault is lost',
    { ...known, vault: 'v2', files: 'f2' },
    false,
    false,
  ],
] as const) {
  test(name, () => {
    assert.is(isSameInstallation(known, found), belongs)
    assert.is(hasLostVault(known, found), lostVault)
  })
}

test.run()
