import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { readSettings, loggableSettings } from '../../src/wiring/settings.ts'

const test = suite('the logged settings')

test('contain no key and no password', () => {
  const [now, before] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
  const logged = loggableSettings(
    readSettings({
      MASTER_KEY: now,
      MASTER_KEY_OLD: before,
      EVENT_STORE: 'esdb://admin:hush-1@log.example.com:2113?tls=false',
      READ_MODEL: 'mongodb://ann:hush-2@db.example.com/adamant',
      MAILER: 'smtps://mailer:hush-3@mail.example.com',
      CORS_ORIGINS: 'https://shop.example.com',
    }),
  )
  const text = JSON.stringify(logged)
  for (const hidden of [now, before, 'hush']) assert.not(text.includes(hidden), text)
  assert.is(logged['MASTER_KEY'], 'set')
  assert.is(logged['EVENT_STORE'], 'esdb://log.example.com:2113')
  assert.equal(logged['CORS_ORIGINS'], ['https://shop.example.com'])
  assert.is(logged['PORT'], 8080)
  assert.is(loggableSettings(readSettings({}))['MASTER_KEY'], 'not set')
})

test.run()
