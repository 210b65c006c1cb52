//! The plans of several locations, and the user's options that have no effect on them. An option
//! that has an effect at none of the locations is refused.

use super::PlanError;
use readlab_measure::plan::Plan;
use readlab_model::trial::MethodId;

/// The plan of one location or of several, and the options that have no effect on it.
#[derive(Debug)]
pub struct LocationPlan {
    pub plan: Plan,
    pub(in crate::experiment) options_without_effect: OptionsWithoutEffect,
}

/// Options without effect on a plan, in the order in which they are refused.
#[derive(Debug, Default)]
pub(in crate::experiment) struct OptionsWithoutEffect(Vec<OptionWithoutEffect>);

#[derive(Debug)]
struct OptionWithoutEffect {
    option: PlanOption,
    why: PlanError,
}

/// An option of the user that selects trials or changes them.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PlanOption {
    /// `--method` with this glob.
    Method(String),
    Reference,
    Merge,
    /// `--param` with this name.
    Param(String),
}

impl From<Plan> for LocationPlan {
    fn from(plan: Plan) -> LocationPlan {
        LocationPlan { plan, options_without_effect: OptionsWithoutEffect::default() }
    }
}

impl LocationPlan {
    /// Refuses a plan with nothing but controls if an option without effect is the cause.
    pub fn require_readings(self, is_control: impl Fn(&MethodId) -> bool) -> Result<LocationPlan, PlanError> {
        let planned = self.plan.trials.iter().map(|planned| &planned.trial);
        let mut trials = planned.chain(self.plan.absent_trials.iter().map(|(trial, _)| trial));
        if trials.any(|trial| !is_control(&trial.id.method)) {
            return Ok(self);
        }
        self.options_without_effect.refuse_first()?;
        Ok(LocationPlan::from(self.plan))
    }

    /// Joins this plan with the plan of another location.
    pub fn joined_with(self, other: LocationPlan) -> LocationPlan {
        LocationPlan {
            plan: self.plan.joined_with(other.plan),
            options_without_effect: self.options_without_effect.joined_with(other.options_without_effect),
        }
    }

    /// The plan, if every option has an effect.
    pub fn into_plan(self) -> Result<Plan, PlanError> {
        self.options_without_effect.refuse_first()?;
        Ok(self.plan)
    }
}

impl OptionsWithoutEffect {
    pub(super) fn add(&mut self, option: PlanOption, why: PlanError) {
        self.0.push(OptionWithoutEffect { option, why });
    }

    /// The options that have no effect on this and the other plan, with the reasons of this plan.
    pub(in crate::experiment) fn joined_with(mut self, other: OptionsWithoutEffect) -> OptionsWithoutEffect {
        self.0.retain(|own| other.0.iter().any(|its| its.option == own.option));
        self
    }

    /// Refuses the first option.
    pub(in crate::experiment) fn refuse_first(self) -> Result<(), PlanError> {
        match self.0.into_iter().next() {
            Some(first) => Err(first.why),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::planner::{ReadableTarget, TrialSelection, plan, plan_location};
    use readlab_measure::plan::testing::{self, WARM, rules_for_readings};
    use readlab_model::trial::Work;
    use readlab_roster::discovery::Contenders;

    /// The plan of a location with one trial, and options without effect there.
    fn location_plan(trial: &str, options: Vec<PlanOption>) -> LocationPlan {
        let mut options_without_effect = OptionsWithoutEffect::default();
        for option in options {
            let why = PlanError::NoMatch(format!("{option:?} at {trial}"));
            options_without_effect.add(option, why);
        }
        LocationPlan { plan: testing::plan(rules_for_readings(1), &[(trial, WARM)]), options_without_effect }
    }

    /// The methods of the trials in the joined plan of three locations, or the error.
    fn joined_methods(options: [Vec<PlanOption>; 3]) -> Result<Vec<String>, String> {
        let locations = ["a", "b", "c"].into_iter().zip(options);
        let plans = locations.map(|(trial, options)| location_plan(trial, options));
        let joined = plans.reduce(LocationPlan::joined_with).unwrap().into_plan();
        let names = |plan: Plan| plan.trials.iter().map(|it| it.trial.method().to_owned()).collect();
        joined.map(names).map_err(|error| error.to_string())
    }

    fn method_option(glob: &str) -> PlanOption {
        PlanOption::Method(glob.to_owned())
    }

    fn param_option(name: &str) -> PlanOption {
        PlanOption::Param(name.to_owned())
    }

    #[test]
    fn an_option_needs_an_effect_at_one_of_three_locations() {
        let all = Ok(["a", "b", "c"].map(str::to_owned).to_vec());
        assert_eq!(joined_methods([vec![], vec![], vec![]]), all);
        let merge = || vec![PlanOption::Merge];
        assert_eq!(joined_methods([merge(), merge(), vec![]]), all);
        assert_eq!(joined_methods([vec![], merge(), merge()]), all);
        // A reference has one reason in each state.
        let references = || vec![PlanOption::Reference, PlanOption::Reference];
        assert_eq!(joined_methods([references(), vec![], references()]), all);
        assert_eq!(
            joined_methods([
                vec![param_option("depth")],
                vec![param_option("threads")],
                vec![param_option("depth")]
            ]),
            all
        );
        assert_eq!(
            joined_methods([vec![method_option("x")], vec![param_option("x")], vec![method_option("x")]]),
            all
        );
    }

    #[test]
    fn the_first_option_of_the_first_location_that_has_no_effect_at_any_is_refused() {
        let refused = |options| joined_methods(options).unwrap_err();
        let all = [
            vec![method_option("x"), PlanOption::Merge, method_option("y")],
            vec![method_option("y"), PlanOption::Merge],
            vec![PlanOption::Reference, method_option("y"), PlanOption::Merge, method_option("x")],
        ];
        assert!(refused(all).starts_with("no method matches Merge at a "));
        let references = || vec![PlanOption::Reference, PlanOption::Reference];
        let all = [references(), vec![PlanOption::Reference], references()];
        assert!(refused(all).starts_with("no method matches Reference at a "));
    }

    #[test]
    fn an_option_that_leaves_only_controls_at_a_location_is_refused() {
        let of = |trial: &str, options: Vec<PlanOption>| {
            let plan = location_plan(trial, options).require_readings(|id| id.method == "null");
            plan.map(drop).map_err(|error| error.to_string())
        };
        let said = of("null", vec![method_option("x"), PlanOption::Merge]).unwrap_err();
        assert!(said.starts_with("no method matches Method(\"x\") at null "), "{said}");
        assert_eq!(of("null", vec![]), Ok(()), "nothing but controls was selected");
        assert_eq!(of("read", vec![method_option("x")]), Ok(()));
    }

    #[test]
    fn at_one_location_an_option_without_effect_is_refused_before_a_later_error() {
        let globs = ["nosuch", "rust/["].map(str::to_owned).to_vec();
        let readable = ReadableTarget::single_file(Work::Sum);
        let selection = TrialSelection { globs, readable, ..TrialSelection::default() };
        let contenders = Contenders::default();
        let said = plan(&contenders, &selection, &[WARM], rules_for_readings(1)).unwrap_err();
        assert!(matches!(&said, PlanError::NoMatch(glob) if glob == "nosuch"), "{said}");
        let said = plan_location(&contenders, &selection, &[WARM], rules_for_readings(1)).unwrap_err();
        assert!(matches!(said, PlanError::Glob(_)), "{said}");
    }
}
