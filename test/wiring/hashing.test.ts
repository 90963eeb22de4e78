import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PasswordHasher } from '../../src/credentials/password-hasher.ts'
import { openInstallation } from '../../src/wiring/open-installation.ts'
import { readSettings } from '../../src/wiring/settings.ts'
import { withFolder } from '../temporary-folder.ts'

const test = suite('an installation')

test('hashes passwords with bcrypt at cost 10, and passphrases with scrypt in 32 MiB', () =>
  withFolder(async (folder) => {
    const { hashing, close } = await openInstallation(readSettings({ DATA_DIR: folder, LOG_LEVEL: 'silent' }))
    await close()
    const passwords = new PasswordHasher(hashing.passwords)
    assert.match(await passwords.hash('a long enough password'), /^\$2b\$10\$/)
    await passwords.close()
    const { N, r } = hashing.passphrases
    assert.is(128 * N * r, 32 * 1024 ** 2)
  }))

test.run()
