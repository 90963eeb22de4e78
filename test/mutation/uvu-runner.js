/**
 * A Stryker test runner for uvu that runs tests individually in one process.
 * @see https://stryker-mutator.io/docs/stryker-js/guides/create-a-plugin
 */
import { pathToFileURL } from 'node:url'
import { declareFactoryPlugin, PluginKind } from '@stryker-mutator/api/plugin'
import { DryRunStatus, MutantRunStatus, TestStatus } from '@stryker-mutator/api/test-runner'
import './modules.js'
import { collected } from './uvu.js'

/** Milliseconds after which a test counts as hanging and its mutant as killed. */
const TEST_TIMEOUT_MS = 10_000

class UvuRunner {
  #loaded
  /** @type {Map<string, { run: () => Promise<void> }>} */
  #tests = new Map()
  /** The errors of tests that fail without a mutant. These tests are skipped and reported. */
  #left = new Map()

  constructor(options) {
    this.files = options.uvu.files
    this.runtime = globalThis.__stryker__ ?? (globalThis.__stryker__ = {})
  }

  capabilities() {
    return { reloadEnvironment: false }
  }

  async dryRun() {
    await this.#load()
    const tests = []
    for (const [id, test] of this.#tests) {
      this.runtime.currentTestId = id
      const began = performance.now()
      const failure = await failureOf(test)
      this.runtime.currentTestId = undefined
      if (failure === undefined) {
        const timeSpentMs = performance.now() - began
        tests.push({ id, name: id, status: TestStatus.Success, timeSpentMs })
      } else this.#left.set(id, failure)
    }
    for (const [id, failure] of this.#left)
      console.error(`LEFT OUT, because it fails without a mutant: ${id}: ${failure}`)
    return { status: DryRunStatus.Complete, tests, mutantCoverage: this.runtime.mutantCoverage }
  }

  async mutantRun({ activeMutant, mutantActivation, testFilter, hitLimit }) {
    const { runtime } = this
    runtime.hitLimit = hitLimit
    runtime.hitCount = hitLimit === undefined ? undefined : 0
    runtime.activeMutant = mutantActivation === 'static' ? activeMutant.id : undefined
    try {
      await this.#load()
    } catch (error) {
      return {
        status: MutantRunStatus.Killed,
        killedBy: [...this.#tests.keys()].slice(0, 1),
        failureMessage: String(error),
        nrOfTests: 0,
      }
    }
    runtime.activeMutant = activeMutant.id
    const ids = testFilter ?? [...this.#tests.keys()].filter((id) => !this.#left.has(id))
    let nrOfTests = 0
    for (const id of ids) {
      nrOfTests++
      const failure = await failureOf(this.#tests.get(id))
      if (runtime.hitLimit !== undefined && runtime.hitCount > runtime.hitLimit)
        return { status: MutantRunStatus.Timeout, reason: `it ran ${runtime.hitCount} times` }
      if (failure !== undefined)
        return { status: MutantRunStatus.Killed, killedBy: [id], failureMessage: failure, nrOfTests }
    }
    return { status: MutantRunStatus.Survived, nrOfTests }
  }

  async #load() {
    if (this.#loaded) return
    this.#loaded = true
    for (const file of this.files) {
      const from = collected.length
      await import(pathToFileURL(file).href)
      for (const test of collected.slice(from)) {
        const id = `${file} ${test.name}`
        this.#tests.set(this.#tests.has(id) ? `${id} ${this.#tests.size}` : id, test)
      }
    }
  }
}

/** @returns the failure, or undefined if the test passes */
async function failureOf(test) {
  if (test === undefined) return 'the test no longer exists'
  let timer
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve('it took too long'), TEST_TIMEOUT_MS)
  })
  try {
    return await Promise.race([test.run().then(() => undefined), late])
  } catch (error) {
    return error instanceof Error ? `${error.message}` : String(error)
  } finally {
    clearTimeout(timer)
  }
}

const make = (options) => new UvuRunner(options)
make.inject = ['options']

export const strykerPlugins = [declareFactoryPlugin(PluginKind.TestRunner, 'uvu', make)]
