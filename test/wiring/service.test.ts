import { createServer, type AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Installation } from '../../src/wiring/installation.ts'
import { startService } from '../../src/wiring/service.ts'
import { readSettings } from '../../src/wiring/settings.ts'
import { openInstallation } from '../../src/wiring/open-installation.ts'
import { withFolder } from '../temporary-folder.ts'
import { openFiles } from '../open-files.ts'

const test = suite('a service that fails to start')

/** Counts the calls to the stores; the call with the number `fails` throws. */
type Step = { calls: number; readonly fails: number }

class Broken extends Error {}

function failingAt<Port extends object>(port: Port, step: Step): Port {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function' || ['close', 'subscribe', 'shred'].includes(String(name))) return value
      return (...args: unknown[]): unknown => {
        if (++step.calls === step.fails) throw new Broken(`call ${step.calls}, ${String(name)}`)
        return Reflect.apply(value, target, args)
      }
    },
  })
}

const settingsOf = (dataDir: string, port: number) =>
  readSettings({ DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'silent' })

/** @returns the number of times the installation was closed, and the error of the start */
async function start(installation: Installation): Promise<{ closed: number; fault: unknown }> {
  let closed = 0
  const close = () => {
    closed++
    return installation.close()
  }
  const [outcome] = await Promise.allSettled([startService({ ...installation, close })])
  if (outcome?.status === 'fulfilled') await outcome.value.stop()
  return { closed, fault: outcome?.status === 'rejected' ? outcome.reason : undefined }
}

test('closes everything that it opened, whichever step fails', () =>
  withFolder(async (folder) => {
    // The process's threads start with it, and stay.
    await start(await openInstallation(settingsOf(folder, 0)))
    const before = openFiles().length
    let failed = 0
    for (let fails = 1; fails <= 24; fails++) {
      const opened = await openInstallation(settingsOf(folder, 0))
      const step = { calls: 0, fails }
      const store = failingAt(opened.store, step)
      const { closed, fault } = await start({
        ...opened,
        store,
        reads: failingAt(opened.reads, step),
        context: { ...opened.context, store },
      })
      if (fault instanceof Broken) failed++
      assert.is(closed, 1, `step ${fails}`)
    }
    assert.ok(failed >= 5, `only ${failed} steps failed`)
    assert.ok(openFiles().length <= before + 2, `${openFiles().length - before} more files are open`)
  }))

test('closes everything that it opened if its port is in use', () =>
  withFolder(async (folder) => {
    const other = createServer()
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
    const opened = await openInstallation(settingsOf(folder, (other.address() as AddressInfo).port))
    const { closed, fault } = await start(opened)
    assert.match(String(fault), 'EADDRINUSE')
    assert.is(closed, 1)
    const reopened = await openInstallation(settingsOf(folder, 0))
    assert.is((await start(reopened)).fault, undefined, 'its leases and its folder were released')
    await new Promise<void>((done) => other.close(() => done()))
  }))

test.run()
