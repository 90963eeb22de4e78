import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { BadSettings, renamedSettingWarnings, readSettings } from '../../src/wiring/settings.ts'

const test = suite('MAILER')

test('is outbox by default', () => assert.is(readSettings({}).MAILER, 'outbox'))

for (const address of ['smtp://127.0.0.1:25', 'smtps://user:p%40ss@mail.example.com', 'outbox']) {
  test(`can be ${address}, also under its former name MAIL, which causes a warning`, () => {
    assert.is(readSettings({ MAILER: address }).MAILER, address)
    assert.equal(renamedSettingWarnings({ MAILER: address }), [])
    assert.is(readSettings({ MAIL: address }).MAILER, address)
    assert.equal(renamedSettingWarnings({ MAIL: address }), [
      'MAIL is now called MAILER: rename it (the old name still works)',
    ])
  })
}

for (const mailbox of ['/var/mail/ann', '/var/spool/mail/ann', '~/Maildir', '/home/ann/Büro/Mail', 'ann', '']) {
  test(`is not MAIL=${mailbox}, which a login shell sets`, () => {
    assert.is(readSettings({ MAIL: mailbox }).MAILER, 'outbox')
    assert.equal(renamedSettingWarnings({ MAIL: mailbox }), [])
  })
}

test('takes precedence over its former name', () => {
  const both = { MAILER: 'smtp://new.example.com', MAIL: 'smtp://old.example.com' }
  assert.is(readSettings(both).MAILER, 'smtp://new.example.com')
  assert.equal(renamedSettingWarnings(both), [])
})

test('is rejected by the name that was set, without its password in the message', () => {
  const faultOf = (environment: Record<string, string>) => {
    try {
      return String(readSettings(environment))
    } catch (error) {
      if (error instanceof BadSettings) return error.message
      throw error
    }
  }
  assert.match(
    faultOf({ MAILER: 'mail.example.com' }),
    'MAILER must be outbox or smtp://USER:PASSWORD@HOST:PORT, got mail',
  )
  const former = faultOf({ MAIL: 'smtp://user:hunter2@mail.example.com:port' })
  assert.match(former, 'MAIL must be outbox or smtp://')
  assert.not.match(former, 'hunter2')
})

test.run()
