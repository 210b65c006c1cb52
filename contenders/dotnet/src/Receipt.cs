using System;
using System.Collections;
using System.Collections.Generic;
using System.Runtime;
using System.Runtime.InteropServices;

/// <summary>
/// The runtime of this program: its version, the kind of its collector, and the settings of the
/// environment that change how it compiles and collects.
/// </summary>
internal static class Receipt
{
    private static readonly string[] Prefixes = { "DOTNET_", "COMPlus_" };
    private static readonly string[] Settings =
    {
        "GC", "TC_", "Tiered", "OSR_", "ReadyToRun", "EnableHW", "EnableAVX",
    };

    internal static string Runtime
    {
        get
        {
            string kind = GCSettings.IsServerGC ? "server" : "workstation";
            string mode = GCSettings.LatencyMode == GCLatencyMode.Interactive ? "concurrent" : "not concurrent";
            return $"{RuntimeInformation.FrameworkDescription}, collector {kind} and {mode}, settings {InForce()}";
        }
    }

    private static string InForce()
    {
        IDictionary variables = Environment.GetEnvironmentVariables();
        var found = new List<string>();
        foreach (object? key in variables.Keys)
        {
            if (key is string name && IsSetting(name))
            {
                found.Add($"{name}={variables[name]}");
            }
        }
        found.Sort(StringComparer.Ordinal);
        return found.Count == 0 ? "none" : string.Join(" ", found);
    }

    private static bool IsSetting(string name) =>
        Array.Exists(Prefixes, prefix => Array.Exists(Settings,
            setting => name.StartsWith(prefix + setting, StringComparison.OrdinalIgnoreCase)));
}
