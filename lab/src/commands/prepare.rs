//! What must be known before anything is measured: the right answers, found by the oracle, and the
//! plan.

use super::deadline::Deadline;
use super::expected_answers::{self, ExpectedAnswers};
use super::run_config::RunConfig;
use crate::contender::discovery::Contenders;
use crate::corpus::oracle::{self, Truth};
use crate::experiment::planner::{self, ReadableTarget, ReadableTargets, TargetForm};
use crate::experiment::recorder::Recorder;
use crate::measure::plan::{Plan, Rules};
use crate::target::http::{self, Verb};
use crate::target::{Place, Target, shown};
use crate::trial::{Transport, TrialId};
use anyhow::Context;
use std::fs::File;
use std::time::Instant;

/// What must be known before anything is measured.
pub(super) struct Prepared {
    pub(super) found: Vec<ExpectedAnswers>,
    pub(super) plan: Plan,
    pub(super) candidates: Vec<TrialId>,
}

/// What is true of the targets, and what will be measured on them.
pub(super) fn prepare(
    asked: &RunConfig,
    contenders: &Contenders,
    (shapes, targets): (&[TargetForm], &mut [Target]),
    (rules, recorder, begun): (Rules, &Recorder, Instant),
) -> anyhow::Result<Prepared> {
    let deadline = Deadline::of_reading(asked.measuring, &rules, begun);
    let (mut all, mut views) = (Vec::<ExpectedAnswers>::new(), ReadableTargets::new());
    for (index, (target, &shape)) in targets.iter_mut().zip(shapes).enumerate() {
        recorder.note(format!("reading {} once for the right answer", target.facts.path));
        let truth = truth(target, &deadline)?;
        target.facts.digest = Some(truth.digest.clone());
        target.facts.answer = Some(truth.answer);
        // Archives are made of the first target: what comes out of them is known from it, by no
        // decoder.
        let decoded = shape.form.and_then(|archive| Some((archive, all.first()?.truth.clone())));
        let work = asked.work(decoded.as_ref().map_or(truth.text, |(_, decoded)| decoded.text));
        views.insert(shape, ReadableTarget { target: index, work, broken: None });
        target.facts.decoded =
            decoded.as_ref().map(|(archive, truth)| expected_answers::facts(*archive, truth));
        all.push(ExpectedAnswers { truth, decoded: decoded.map(|(_, truth)| truth) });
    }
    let states = targets.first().map_or_else(Vec::new, |target| asked.states(&target.facts));
    let candidates =
        shapes.first().map_or(Ok(Vec::new()), |plain| asked.candidates(contenders, views[plain].work))?;
    let plan = |views: &ReadableTargets| {
        planner::plan(contenders, &asked.selection(views.clone(), &candidates), &states, rules)
    };
    if let (Some(TargetForm { form: None, over: Transport::File }), [target, ..], [found, ..]) =
        (shapes.first(), targets, &mut all[..])
        && let Some(archive) = found.truth.archive
    {
        let shape = TargetForm { form: Some(archive), over: Transport::File };
        views.insert(shape, ReadableTarget { target: 0, work: asked.work(true), broken: None });
        if plan(&views)?.trials.iter().any(|planned| planned.trial.decodes.is_some()) {
            recorder.note(format!("decoding {} once for the right answer", target.facts.path));
            let content = found.decode(target, archive, &deadline);
            let work = asked.work(content.as_ref().map_or(true, |content| content.text));
            views.insert(shape, ReadableTarget { target: 0, work, broken: content.err() });
        }
    }
    let plan = plan(&views)?;
    Ok(Prepared { found: all, plan, candidates })
}

/// What is true of a file, or of what a server gives; that gives its size too, which servers need
/// not tell.
pub(super) fn truth(target: &mut Target, deadline: &Deadline) -> anyhow::Result<Truth> {
    let go_on = || deadline.check();
    let Place::Web { url, .. } = &target.place else {
        let file = target.file().expect("what is not behind a foreign server is a file");
        return oracle::truth_of(|| File::open(file), &go_on).with_context(|| shown(file));
    };
    let opened = || http::ask(Verb::Get, url, &go_on).map_err(std::io::Error::other);
    let found = oracle::truth_of(opened, &go_on).with_context(|| url.to_string())?;
    target.facts.size_bytes = found.answer.bytes.unwrap_or(0);
    Ok(found)
}
