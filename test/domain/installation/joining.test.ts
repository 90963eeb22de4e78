import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isSameInstallation, hasLostVault } from '../../../src/domain/installation/installation.ts'

const test = suite('vault and files beside a log')

const known = { vault: 'v1', files: 'f1', place: 'here' }

for (const [what, found, belongs, lostVault] of [
  ['that are its own belong with it, wherever they are', { ...known, place: 'elsewhere' }, true, false],
  ['of which the vault is another one do not, and its own is lost', { ...known, vault: 'v2' }, false, true],
  ['of which the files are others do not, and no vault is lost', { ...known, files: 'f2' }, false, false],
  ["that are both another's do not, and no vault is lost", { ...known, vault: 'v2', files: 'f2' }, false, false],
] as const) {
  test(what, () => {
    assert.is(isSameInstallation(known, found), belongs)
    assert.is(hasLostVault(known, found), lostVault)
  })
}

test.run()
