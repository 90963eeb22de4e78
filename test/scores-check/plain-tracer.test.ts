import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { traceEyeRays } from '../../scripts/scores-check/plain-tracer/plain-tracer.ts'
import { modelledShapes } from '../../src/optics/cut/cut.ts'
import { diamondOptics, solidOfCut } from '../../src/optics/cut/trace-cut.ts'
import { sampleWholeSky } from '../../src/optics/light/light-return.ts'
import { crownTargetOf } from '../../src/optics/light/view.ts'
import { nominalCut } from '../optics/cuts.ts'

const test = suite('the plain tracer')

const beam = { samples: 1500, index: diamondOptics.index, cutOff: 1e-3 }

for (const shape of modelledShapes)
  test(`accounts for all light through a ${shape}: reflected, refracted out or remaining inside`, () => {
    const target = crownTargetOf(solidOfCut(nominalCut(shape, 'Very Good')).solid)
    let rays = 0
    let worst = 0
    traceEyeRays(target, beam, sampleWholeSky, (path) => {
      const out = path.energy.slice(1, path.hits).reduce((sum, energy) => sum + energy, 0)
      worst = Math.max(worst, Math.abs(path.glare + out + path.remainingEnergy - 1))
      rays++
    })
    assert.ok(rays > 1000 && worst < 1e-9, `${rays} rays, off by ${worst}`)
  })

test.run()
