import { existsSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openOutbox } from '../../../src/stores/mail/outbox.ts'
import { openFiles } from '../../open-files.ts'
import { withFolder } from '../../temporary-folder.ts'

const test = suite('the outbox')

const mail = {
  from: 'a@example.com',
  to: 'b@example.com',
  subject: 'It',
  text: 'it',
  html: '<p>it</p>',
  date: new Date(0),
  messageId: '<1@example.com>',
}

/** Writing to it fails as on a full disk. Only Linux has it. */
const FULL_DISK = '/dev/full'

test('leaves no file open when the disk is full, and writes the message when it is not', () =>
  withFolder(async (folder) => {
    const outbox = openOutbox(folder)
    if (existsSync(FULL_DISK)) {
      symlinkSync(FULL_DISK, join(folder, '1@example.com.eml.part'))
      const error = await outbox.send(mail).catch((reason: unknown) => reason)
      assert.is((error as NodeJS.ErrnoException).code, 'ENOSPC')
      assert.not.ok(openFiles().includes(FULL_DISK))
      rmSync(join(folder, '1@example.com.eml.part'))
    }
    await outbox.send(mail)
    assert.ok(existsSync(join(folder, '1@example.com.eml')))
    await outbox.close()
  }))

test.run()
