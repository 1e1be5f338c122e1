!> Adds two vectors within little memory.
program outside
    use polytile
    implicit none
    real, target :: x(1000) = 1, y(1000) = 2, z(1000)
    type(polytile_context) :: ctx
    type(polytile_device) :: device
    type(polytile_kernel) :: add
    type(polytile_array) :: arrays(3)
    call polytile_context_create(ctx)
    call polytile_device_open(ctx, 'host(memory=4KiB)', device)
    call polytile_kernel_compile(ctx, 'add[i]: in x[i], y[i]; out z[i]', 'z(i) = x(i) + y(i);', add)
    call polytile_array_wrap(ctx, 'x', x, arrays(1))
    call polytile_array_wrap(ctx, 'y', y, arrays(2))
    call polytile_array_wrap(ctx, 'z', z, arrays(3))
    call polytile_run(device, add, polytile_extents([1000]), arrays)
    call polytile_context_destroy(ctx)
    if (any(z /= 3)) error stop 'z is not x + y'
end program
