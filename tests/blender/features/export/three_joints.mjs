// SPDX-License-Identifier: GPL-3.0-or-later
// node three_joints.mjs FILE.glb RATE THREE: prints as JSON, for each clip as three.js plays it, where each bone's head is on
// the frames and half-way between, in Blender's axes. THREE: the folder of npm's package three. Needs no window.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

globalThis.self = globalThis;
globalThis.ProgressEvent ??= class {};
const [file, rate, three] = process.argv.slice(2);
const part = (name) => import(pathToFileURL(`${three}/${name}`).href);
const { AnimationMixer, LoopOnce, REVISION, Vector3 } = await part('build/three.module.js');
const { GLTFLoader } = await part('examples/jsm/loaders/GLTFLoader.js');
const bytes = readFileSync(file);

function played(scene, clip) {
  const bones = {}, mixer = new AnimationMixer(scene), action = mixer.clipAction(clip);
  scene.traverse((node) => { if (node.isBone) bones[node.userData.name ?? node.name] = node; });
  action.setLoop(LoopOnce);
  action.clampWhenFinished = true;
  const start = Math.min(...clip.tracks.map((track) => track.times[0]));
  const halves = 2 * Math.round((clip.duration - start) * rate), heads = {};
  for (let half = 0; half <= halves; half++) {
    action.reset().play();
    action.time = Math.min(start + half / 2 / rate, clip.duration);
    mixer.update(0);
    scene.updateMatrixWorld(true);
    for (const [name, bone] of Object.entries(bones)) {
      const { x, y, z } = new Vector3().setFromMatrixPosition(bone.matrixWorld);
      (heads[name] ??= []).push([x, -z, y]);
    }
  }
  mixer.stopAllAction();
  return { start, duration: clip.duration, heads };
}

const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const { scene, animations } = await new GLTFLoader().parseAsync(buffer, '');
const clips = Object.fromEntries(animations.map((clip) => [clip.name, played(scene, clip)]));
console.log(JSON.stringify({ revision: REVISION, clips }));
